import type { Item } from '@slipway/client'

type Environment = Pick<Item<'listEnvironments'>, 'id' | 'name' | 'rules'>

/** A promotion rule: `to` takes only what is in force in `from`. */
export interface Promotion {
  from: Place
  to: Place
}

type Place = Pick<Environment, 'id' | 'name'>

/** The promotion rules by the environment that has them. */
export type Promotions = ReadonlyMap<string | null, Promotion>

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
