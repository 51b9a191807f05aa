import { integerVariable } from '@slipway/runtime'

const MAX_SECONDS = 31_536_000
/** More frequent checks would keep slots and targets busy with nothing else. */
const MIN_SECONDS = 60

export const driftConfig = {
  SLIPWAY_DRIFT_CHECK_INTERVAL: integerVariable({
    default: 0,
    maximum: MAX_SECONDS,
    not: { minimum: 1, maximum: MIN_SECONDS - 1 },
    expects: `0, or a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}`,
    description:
      'Seconds between two checks of a target, for actions whose check names no interval; 0: only on request',
  }),
}
