import type { Difference } from './difference.ts'
import type { FileKind } from './kinds.ts'
import type { CatalogEntry } from './load.ts'
import type { ServerRecord } from './server.ts'

/** One change that brings the server closer to the files. */
export interface Change {
  entry: CatalogEntry
  what: 'create' | 'publish' | 'change'
  differences: Difference[]
  /** Present if the record has another manager, or none (null). */
  takenFrom?: string | null
}

/** A record that its manager no longer names. */
export interface Deletion {
  kind: FileKind
  record: ServerRecord
}
