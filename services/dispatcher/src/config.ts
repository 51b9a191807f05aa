import { Strict } from '@slipway/contracts'
import { CONCURRENCY_POLICIES } from '@slipway/domain'
import { choiceVariable, commonConfig, integerVariable } from '@slipway/runtime'
import { retentionConfig } from './retention/settings.ts'

const MAX_SECONDS = 31_536_000
/** More frequent checks would keep slots and targets busy with nothing else. */
const MIN_SECONDS = 60

const driftConfig = {
  SLIPWAY_DRIFT_CHECK_INTERVAL: integerVariable({
    default: 0,
    maximum: MAX_SECONDS,
    not: { minimum: 1, maximum: MIN_SECONDS - 1 },
    expects: `0, or a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}`,
    description:
      'Seconds between two checks of a target, for actions whose check names no interval; 0: only on request',
  }),
}

const { REDIS_URL: _cache, ...needed } = commonConfig

/** The dispatcher's environment variables. The encryption keys open the secrets of webhooks and of payloads. */
export const dispatcherConfig = Strict({
  ...needed,
  SLIPWAY_TENANT_RUNNING_LIMIT: integerVariable({
    default: 0,
    maximum: 1_000_000,
    description: 'Deployments of one tenant that may run at once; 0: any number',
  }),
  ...driftConfig,
  SLIPWAY_TARGET_CONCURRENCY: choiceVariable(CONCURRENCY_POLICIES, {
    default: 'allow',
    description:
      'What happens to a deployment for a target that another one works on, unless target or environment say it',
    examples: ['queue'],
  }),
  ...retentionConfig,
})
