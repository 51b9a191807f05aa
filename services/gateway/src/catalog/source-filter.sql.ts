import { int4, nullable, sourceKind, uuid } from '@slipway/database'
import { isRecordSql } from './record-id.sql.ts'

/** The parameters of `ofSourceSql`. Null means no condition. */
export const sourceColumns = {
  of_source_kind: nullable(sourceKind),
  of_source: nullable(uuid),
  of_source_number: nullable(int4),
}

/** SQL: whether a deployment or a release is of the source of the filter. */
export const ofSourceSql = (alias: string) =>
  `(:of_source_kind::source_kind IS NULL OR ${alias}.source_type = :of_source_kind) AND ` +
  isRecordSql(`${alias}.source_id`, 'sources', 'of_source')
