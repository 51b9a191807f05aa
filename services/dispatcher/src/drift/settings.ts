import { integerVariable } from '@slipway/runtime'

export const driftConfig = {
  SLIPWAY_DRIFT_CHECK_INTERVAL: integerVariable({
    default: 0,
    maximum: 31_536_000,
    description:
      'Seconds between two checks of a target, for actions with a check that names no interval, at least 60; 0: only on request',
  }),
}

/** More frequent checks would keep slots and targets busy with nothing else. */
const SHORTEST_SECONDS = 60

/** Seconds between two checks; 0 for never. */
export const checkInterval = ({ SLIPWAY_DRIFT_CHECK_INTERVAL: seconds }: { SLIPWAY_DRIFT_CHECK_INTERVAL: number }) =>
  seconds === 0 ? 0 : Math.max(SHORTEST_SECONDS, seconds)
