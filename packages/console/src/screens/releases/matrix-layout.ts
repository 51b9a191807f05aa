import type { Item } from '@slipway/client'
import compare from 'semver/functions/compare.js'
import type { Promotion, Promotions } from './promotions.ts'

export type Row = Item<'getReleaseMatrix'>
export type Cell = Row['cells'][number]

/** An environment or a tenant; null is for records without one. */
interface Place {
  id: string | null
  name: string
  /** Where people have put an environment among the others. */
  position?: number | null
}

/** The cells of a tenant in the row of a source. */
export interface Line {
  tenant: Place
  cells: readonly Cell[]
}

/**
 * The environments in these rows, and those that take versions of one of them: by their positions, then by name. Without a position, an
 * environment stands after the one that its versions come from. At the end is what has no environment.
 */
export function environmentsOf(rows: readonly Row[], promotions: Promotions = new Map()): Place[] {
  const own = placesOf(rows.flatMap(({ cells }) => cells.map(environmentOf)))
  const ids = new Set(own.map(({ id }) => id))
  const next = [...promotions.values()].filter(({ from, to }) => ids.has(from.id) && !ids.has(to.id))
  const all = placesOf([...own, ...next.map(({ to }) => to)])
  const placed: Place[] = []
  const seen = new Set<Place>()
  const place = (environment: Place | undefined) => {
    if (environment === undefined || seen.has(environment)) return
    seen.add(environment)
    const isFree = environment.position == null
    if (isFree) place(all.find(({ id }) => id !== null && id === promotions.get(environment.id)?.from.id))
    placed.push(environment)
  }
  for (const environment of all) place(environment)
  return placed
}

/** A line for each tenant that deploys the source. */
export function linesOf({ cells }: Row): Line[] {
  const tenants = placesOf(cells.map(tenantOf))
  return tenants.map((tenant) => ({ tenant, cells: cells.filter(({ tenant_id }) => tenant_id === tenant.id) }))
}

/** Whether the rows are of more than one tenant, or of one among records without tenant. */
export const hasTenants = (rows: readonly Row[]): boolean =>
  rows.some(({ cells }) => cells.some(({ tenant_id }) => tenant_id !== null))

/** What stands in the environment before a cell. */
export interface Candidate {
  environment: Promotion['from']
  cell: Cell
  /** Whether a version is in force there that is not the only one here. */
  isNew: boolean
}

/** What may go on into an environment; null without a promotion rule, or if nothing is in force before it. */
export function candidateFor(promotions: Promotions, { cells }: Line, to: string | null): Candidate | null {
  const environment = promotions.get(to)?.from
  const cell = cells.find(({ environment_id }) => environment_id === environment?.id)
  if (environment === undefined || cell === undefined || cell.versions.length === 0) return null
  const here = cells.find(({ environment_id }) => environment_id === to)
  return { environment, cell, isNew: versionsIn(cell) !== versionsIn(here) }
}

/** The stage before a cell, and the version there that the cell does not have yet. */
export interface Ahead {
  environment: string
  version: string
}

/** What a cell is behind: the nearest stage before it with the source has a higher version in force. Null: it is not behind. */
export function aheadOf({ cells }: Line, cell: Cell): Ahead | null {
  const { environment_position: place } = cell
  if (place === null) return null
  const before = cells
    .filter(({ environment_position: other, versions }) => other !== null && other < place && versions.length > 0)
    .sort((a, b) => (b.environment_position ?? 0) - (a.environment_position ?? 0))[0]
  const [there, here] = [before?.versions[0]?.version, cell.versions[0]?.version]
  if (before === undefined || there === undefined || here === undefined || compare(there, here) <= 0) return null
  return { environment: environmentOf(before).name, version: there }
}

const versionsIn = (cell: Cell | undefined): string =>
  (cell?.versions ?? []).map(({ version, variants }) => `${version} ${variants}`).join(', ')

const environmentOf = ({ environment_id: id, environment_name, environment_position: position }: Cell): Place => ({
  id,
  name: environment_name ?? id ?? 'No environment',
  position,
})

const tenantOf = ({ tenant_id: id, tenant_name }: Cell): Place => ({ id, name: tenant_name ?? id ?? 'No tenant' })

function placesOf(places: readonly Place[]): Place[] {
  const unique = new Map(places.map((place) => [place.id, place]))
  const nothingLast = (a: Place, b: Place) => Number(a.id === null) - Number(b.id === null)
  return [...unique.values()].sort((a, b) => nothingLast(a, b) || byPosition(a, b) || byName(a, b))
}

const byPosition = (a: Place, b: Place) => {
  const [one, other] = [a.position ?? null, b.position ?? null]
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one - other
}

const byName = (a: Place, b: Place) => a.name.localeCompare(b.name, undefined, { numeric: true })
