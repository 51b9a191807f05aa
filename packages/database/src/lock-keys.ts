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
  /** Only one dispatcher at a time decides what starts, so that requests keep their order across replicas. */
  admission: numbered(1),
  /** One gateway at a time appends to the audit chain. */
  auditChain: numbered(2),
  /** One dispatcher at a time claims deliveries, so that the limit of each webhook holds over all replicas. */
  webhookClaims: numbered(3),
  /** Only one test process at a time creates the template database. */
  testTemplate: numbered(4),
  auditDrop: named('audit_drop'),
  retention: named('retention'),
  /** Publishing a version takes it shared, deleting a source exclusively. */
  composition: named('composition'),
  seedIdentity: named('seed_identity'),
  /** Only one upload at a time reserves bytes. Otherwise parallel uploads could exceed a quota. */
  contentQuota: named('content_quota'),
  /** Only one gateway at a time writes freezes. Otherwise parallel writers could exceed the limit of a tenant. */
  freezes: named('freezes'),
  lastAdmin: named('last_admin'),
  /** Only one process at a time grants rights to the roles. */
  grants: numbered(5),
  /** Taken by the SQL function ensure_log_partition. */
  logPartitions: named('log_partitions'),
  /** Only one dispatcher at a time folds the counts of deployments. */
  foldDeploymentCounts: named('fold_deployment_counts'),
} as const

/** Keys of locks that exist per value. */
export const LOCK_KEYS_BY_VALUE = {
  /** Only one transaction at a time counts and adds webhooks of a tenant. */
  tenantWebhooks: each('slipway.webhooks/'),
  /** Two first joins with the same instance name run one after the other. */
  instanceName: each('slipway.enrol/'),
  /** Two copies of one command message run one after the other. The value is the id of the command. */
  command: each(''),
} as const
