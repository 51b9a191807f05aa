import type { Item } from '@slipway/client'
import type { Cell, Line, Promotions } from './matrix-layout.ts'

type Environment = Pick<Item<'listEnvironments'>, 'id' | 'name' | 'rules'>

type Place = Pick<Environment, 'id' | 'name'>

export function promotionsOf(environments: readonly Environment[]): Promotions {
  const names = new Map(environments.map(({ id, name }) => [id, name]))
  return new Map(
    environments.flatMap(({ id, name, rules }) => {
      const before = rules?.promotion?.from_environment_id
      if (before === undefined) return []
      return [[id, { from: { id: before, name: names.get(before) ?? before }, to: { id, name } }] as const]
    }),
  )
}

/** What stands in the environment before a cell. */
export interface Candidate {
  environment: Place
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
