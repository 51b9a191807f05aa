import { integerVariable } from '@slipway/runtime'

const days = (what: string, byDefault: number) =>
  integerVariable({
    default: byDefault,
    maximum: 36_500,
    description: `Days for which ${what} kept; 0: for ever`,
  })

export const retentionConfig = {
  SLIPWAY_RETENTION_LOG_DAYS: days('log lines are', 90),
  SLIPWAY_RETENTION_RESULT_DAYS: days('results of commands, with the ends of their output, are', 365),
  SLIPWAY_RETENTION_DEPLOYMENT_DAYS: days('deployments that ended, with all that is theirs, are', 0),
  SLIPWAY_RETENTION_AUDIT_DAYS: days('audit records are', 0),
  SLIPWAY_RETENTION_KEEP_DEPLOYMENTS: integerVariable({
    default: 10,
    maximum: 1_000_000,
    description: 'Deployments of each source and environment that are kept, however old',
  }),
}

/** For how many days data is kept. Null: forever. */
export interface RetentionRules {
  logDays: number | null
  resultDays: number | null
  deploymentDays: number | null
  auditDays: number | null
  /** How many of the latest deployments stay, per source and environment. */
  keepDeployments: number
}

type Settings = { [Name in keyof typeof retentionConfig]: number }

export function retentionRules(config: Settings): RetentionRules {
  return {
    logDays: config.SLIPWAY_RETENTION_LOG_DAYS || null,
    resultDays: config.SLIPWAY_RETENTION_RESULT_DAYS || null,
    deploymentDays: config.SLIPWAY_RETENTION_DEPLOYMENT_DAYS || null,
    auditDays: config.SLIPWAY_RETENTION_AUDIT_DAYS || null,
    keepDeployments: config.SLIPWAY_RETENTION_KEEP_DEPLOYMENTS,
  }
}
