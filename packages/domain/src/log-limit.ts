/** The limits of the log volume: of one deployment, and of all deployments of a tenant in a day. */
export const LOG_LIMITS = ['deployment', 'tenant_day'] as const
export type LogLimit = (typeof LOG_LIMITS)[number]
