import { array, int8, nullable, text } from '@slipway/database'

/** The parameters of a page. `after` is the sort key of the row before it; null: from the beginning. */
export const pageColumns = { take: int8, skip: int8, after: nullable(array(text)) }

/** SQL: the orders of a list by `sort`, with these columns and the id of a row. Rows without a value come last. */
export const ordersOf = (columns: Record<string, string>, id: string): [sort: string, order: string][] =>
  Object.entries(columns).flatMap(([column, expression]): [string, string][] => [
    [column, `${expression} ASC NULLS LAST, ${id} ASC`],
    [`-${column}`, `${expression} DESC NULLS LAST, ${id} DESC`],
  ])

/** The name of the statement that reads a list in the order of `sort`. */
export const sortedName = (statement: string, sort: string) =>
  `${statement}-by-${sort.replace(/^-/, '').replaceAll('_', '-')}${sort.startsWith('-') ? '-reversed' : ''}`

type SortColumn = readonly [expression: string, type: 'timestamptz' | 'uuid' | 'text']

/** SQL: whether a row comes after `:after` in a list that these columns order, all of them in this direction. */
export function afterKeySql(direction: 'ascending' | 'descending', ...columns: readonly SortColumn[]): string {
  const own = columns.map(([expression]) => expression).join(', ')
  const key = columns.map(([, type], index) => `(:after::text[])[${index + 1}]::${type}`).join(', ')
  return `(:after::text[] IS NULL OR (${own}) ${direction === 'ascending' ? '>' : '<'} (${key}))`
}

/** SQL: whether a row of this table comes after `:after`, newest first. */
export const afterNewerSql = (alias: string): string =>
  afterKeySql('descending', [`${alias}.created_at`, 'timestamptz'], [`${alias}.id`, 'uuid'])
