import { Strict } from '@slipway/contracts'
import { CONCURRENCY_POLICIES } from '@slipway/domain'
import { choiceVariable, commonConfig, integerVariable } from '@slipway/runtime'
import { driftConfig } from './drift/settings.ts'
import { retentionConfig } from './retention/settings.ts'

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
