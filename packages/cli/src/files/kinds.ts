import { nameKey } from '@slipway/contracts'

/** The kinds of records in files. A kind comes after all kinds that it refers to. */
export const KINDS = ['tenant', 'environment', 'action', 'sequence', 'solution', 'target', 'freeze'] as const
export type FileKind = (typeof KINDS)[number]

/** Equal for records that a server takes for one. */
export const buildNameKey = (kind: FileKind, name: string, tenant: string | null) =>
  JSON.stringify([kind, nameKey(name), tenant === null ? null : nameKey(tenant)])
