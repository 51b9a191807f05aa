import type { Item } from '@slipway/client'
import type { Promotion, Promotions } from './promotions.ts'

export type Row = Item<'getReleaseMatrix'>
export type Cell = Row['cells'][number]

/** An environment or a tenant; null is for records without one. */
interface Place {
  id: string | null
  name: string
}

/** The cells of a tenant in the row of a source. */
export interface Line {
  tenant: Place
  cells: readonly Cell[]
}

/**
 * The environments in these rows, and those that take versions of one of them, by name. Each stands after the one that its versions come
 * from; at the end what has none.
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
    place(all.find(({ id }) => id !== null && id === promotions.get(environment.id)?.from.id))
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

const versionsIn = (cell: Cell | undefined): string =>
  (cell?.versions ?? []).map(({ version, variants }) => `${version} ${variants}`).join(', ')

const environmentOf = ({ environment_id: id, environment_name }: Cell): Place => ({
  id,
  name: environment_name ?? id ?? 'No environment',
})

const tenantOf = ({ tenant_id: id, tenant_name }: Cell): Place => ({ id, name: tenant_name ?? id ?? 'No tenant' })

function placesOf(places: readonly Place[]): Place[] {
  const unique = new Map(places.map((place) => [place.id, place]))
  return [...unique.values()].sort((a, b) => Number(a.id === null) - Number(b.id === null) || byName(a, b))
}

const byName = (a: Place, b: Place) => a.name.localeCompare(b.name, undefined, { numeric: true })
