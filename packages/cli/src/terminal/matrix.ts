import type { Item } from '@slipway/client'
import { sanitize } from './controls.ts'
import type { Output } from './output.ts'
import { formatTable, getTableWidth } from './table.ts'

type Row = Item<'getReleaseMatrix'>
type Cell = Row['cells'][number]
type Paint = Pick<Output, 'paint'>

const MAX_VERSIONS_SHOWN = 3

/** Environments of several tenants can have the same name. */
export const formatPlace = ({ tenant_name, environment_name }: Pick<Cell, 'tenant_name' | 'environment_name'>) =>
  [tenant_name, environment_name].filter((name) => name !== null).join(', ') || null

/** Returns a text such as `1.0.0 (2 variants)`: the targets with this version have other versions of its parts. */
export const formatVariants = (version: string, variants: number | undefined): string =>
  variants === undefined || variants < 2 ? version : `${version} (${variants} variants)`

/** Returns a table with a column for each environment. Where it is too wide, each source gets lines of its own. */
export function formatMatrix(rows: readonly Row[], width: number, output: Paint): string[] {
  const [head = '', ...lines] = formatAsTable(rows, output)
  if (getTableWidth([head, ...lines]) <= width) return [output.paint(head, 'bold'), ...lines]
  return rows.flatMap((row, n) => [...(n === 0 ? [] : ['']), ...formatAsList(row, output)])
}

const getPlaceId = ({ tenant_id, environment_id }: Cell) => `${tenant_id} ${environment_id}`
const formatPlaceName = (cell: Cell) => sanitize(formatPlace(cell) ?? 'no environment')

const getPosition = ({ environment_position: position }: Cell) => position ?? Number.POSITIVE_INFINITY

/** By the position of the environment, then by name. */
function comparePlaces(a: Cell, b: Cell): number {
  const [first, second] = [getPosition(a), getPosition(b)]
  return first === second ? formatPlaceName(a).localeCompare(formatPlaceName(b)) : first - second
}

function formatAsTable(rows: readonly Row[], output: Paint): string[] {
  const places = new Map(rows.flatMap(({ cells }) => cells.map((cell) => [getPlaceId(cell), cell])))
  const columns = [...places]
    .sort(([, a], [, b]) => comparePlaces(a, b))
    .map(([id, cell]) => [id, formatPlaceName(cell)] as const)
  return formatTable(
    ['SOURCE', 'KIND', ...columns.map(([, name]) => name)],
    rows.map(({ source_name, source_type, cells }) => [
      sanitize(source_name),
      source_type,
      ...columns.map(([id]) =>
        formatCell(
          cells.find((cell) => getPlaceId(cell) === id),
          output,
        ),
      ),
    ]),
  )
}

function formatAsList({ source_name, source_type, cells }: Row, output: Paint): string[] {
  const places = cells.toSorted(comparePlaces).map((cell) => [formatPlaceName(cell), formatCell(cell, output)] as const)
  const width = Math.max(0, ...places.map(([name]) => name.length))
  return [
    output.paint(`${sanitize(source_name)} (${source_type})`, 'bold'),
    ...places.map(([name, versions]) => `  ${name.padEnd(width)}  ${versions}`),
  ]
}

/** Returns a text such as `1.1.0 ×3, 1.0.0 ×1, 2 failed`. */
function formatCell(cell: Cell | undefined, output: Paint): string {
  if (cell === undefined) return '-'
  const { versions, target_count, running, failed, drifted } = cell
  const without = target_count - versions.reduce((sum, { target_count: count }) => sum + count, 0)
  const shown = versions.slice(0, MAX_VERSIONS_SHOWN)
  const more = versions.length - shown.length
  const groups = [
    ...shown.map(({ version, variants, target_count: count }) => ({ text: formatVariants(version, variants), count })),
    ...(without > 0 ? [{ text: 'none', count: without }] : []),
  ]
  const texts =
    groups.length === 1 ? groups.map(({ text }) => text) : groups.map(({ text, count }) => `${text} ×${count}`)
  return [
    ...texts,
    ...(more > 0 ? [`${more} more versions`] : []),
    ...(running > 0 ? [output.paint(`${running} running`, 'yellow')] : []),
    ...(drifted > 0 ? [output.paint(`${drifted} drifted`, 'yellow')] : []),
    ...(failed > 0 ? [output.paint(`${failed} failed`, 'red')] : []),
  ].join(', ')
}
