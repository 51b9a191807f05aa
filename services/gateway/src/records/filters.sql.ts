import { array, int4, nullable, sourceKind, text, uuid } from '@slipway/database'

/**
 * SQL: whether a column is the record of a filter, or the filter is not given. The filter is a parameter with the id, and one with
 * the suffix `_number`.
 */
export const isRecordSql = (column: string, table: string, filter: string) =>
  `(:${filter}::uuid IS NULL AND :${filter}_number::int4 IS NULL OR ${column} = ${recordSql(table, filter)})`

/** SQL: the id of the record of a filter. */
export const recordSql = (table: string, filter: string) =>
  `coalesce(:${filter}, (SELECT id FROM ${table} WHERE number = :${filter}_number))`

/** The parameters of `isAmongSql`. Null means no condition. */
export const amongColumns = { among_ids: nullable(array(uuid)), among_numbers: array(int4) }

/** SQL: whether a row of this table is one of the records of a list of ids. */
export const isAmongSql = (alias: string) =>
  `(:among_ids::uuid[] IS NULL OR ${alias}.id = ANY (:among_ids) OR ${alias}.number = ANY (:among_numbers))`

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

/** The parameters of `taggedSql`. The tag has a key and perhaps a value. */
export const tagColumns = { tag_key: nullable(text), tag_value: nullable(text) }

/** SQL: whether the target of this id has the tag of the filter. */
export const taggedSql = (targetId: string) =>
  `(:tag_key::text IS NULL OR ${targetId} IN (SELECT g.target_id FROM target_tags g
             WHERE g.key = :tag_key AND (:tag_value::text IS NULL OR g.value = :tag_value)))`
