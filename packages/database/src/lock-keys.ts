/**
 * Every advisory lock key of Slipway, as the SQL arguments of `pg_advisory_lock` and its variants. Nothing else may name a
 * key: two users of one key wait for each other, or skip their work, for no reason.
 *
 * Keep the key of a lock that exists: during a rolling update, old and new processes must exclude each other.
 */
const SLIPWAY = 0x51b
const numbered = (number: number) => `${SLIPWAY}, ${number}`
const named = (name: string) => `hashtext('slipway.${name}')`
/** A lock for each value of a kind. `value` is an SQL expression of type text, for example a parameter. */
const each = (prefix: string) => (value: string) => `hashtextextended('${prefix}' || ${value}, 0)`

export const LOCK_KEYS = {
  /** One dispatcher at a time drains the queue, so that the order of the queue holds over all replicas. */
  queueDrain: numbered(1),
  /** One gateway at a time appends to the audit chain. */
  auditChain: numbered(2),
  /** One dispatcher at a time claims deliveries, so that the limit of each webhook holds over all replicas. */
  webhookClaims: numbered(3),
  /** Test runs: one process at a time makes the template database. */
  testTemplate: numbered(4),
  auditDrop: named('audit_drop'),
  retention: named('retention'),
  /** Publishing a version holds it shared, deleting a source holds it alone. */
  composition: named('composition'),
  seedIdentity: named('seed_identity'),
  /** One upload at a time reserves bytes, so that uploads that run in parallel cannot pass a quota together. */
  contentQuota: named('content_quota'),
  lastAdmin: named('last_admin'),
  /** One process at a time gives the roles of services their rights. */
  grants: numbered(5),
  /** Taken by the SQL function ensure_log_partitions. */
  logPartitions: named('log_partitions'),
  /** Taken by the SQL function fold_deployment_counts. */
  foldDeploymentCounts: named('fold_deployment_counts'),
} as const

/** Keys of locks that exist once for each value. */
export const LOCK_KEYS_BY_VALUE = {
  /** A tenant's running deployments are counted and added to by one transaction at a time. */
  tenantRunning: each('slipway.running.'),
  /** A tenant's webhooks are counted and added to by one transaction at a time. */
  tenantWebhooks: each('slipway.webhooks/'),
  /** Two first enrolments under one instance name come one after the other. */
  instanceName: each('slipway.enrol/'),
  /** Two copies of one command come one after the other. The value is the command's id. */
  command: each(''),
} as const
