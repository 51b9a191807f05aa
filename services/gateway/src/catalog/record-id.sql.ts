/**
 * SQL: whether a column is the record of a filter, or the filter is not given. The filter is a parameter with the id, and one with
 * the suffix `_number`.
 */
export const isRecordSql = (column: string, table: string, filter: string) =>
  `(:${filter}::uuid IS NULL AND :${filter}_number::int4 IS NULL OR ${column} = ${recordSql(table, filter)})`

/** SQL: the id of the record of a filter. */
export const recordSql = (table: string, filter: string) =>
  `coalesce(:${filter}, (SELECT id FROM ${table} WHERE number = :${filter}_number))`
