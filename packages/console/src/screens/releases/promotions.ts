import type { Item } from '@slipway/client'

type Environment = Pick<Item<'listEnvironments'>, 'id' | 'name' | 'position' | 'rules'>

/** A promotion rule: `to` takes only what is in force in `from`. */
export interface Promotion {
  from: Place
  to: Place
}

type Place = Pick<Environment, 'id' | 'name' | 'position'>

/** The promotion rules by the environment that has them. */
export type Promotions = ReadonlyMap<string | null, Promotion>

export function promotionsOf(environments: readonly Environment[]): Promotions {
  const known = new Map(environments.map((environment) => [environment.id, environment]))
  return new Map(
    environments.flatMap(({ id, name, position, rules }) => {
      const before = rules?.promotion?.from_environment_id
      if (before === undefined) return []
      const from = known.get(before)
      const place = { id: before, name: from?.name ?? before, position: from?.position ?? null }
      return [[id, { from: place, to: { id, name, position } }] as const]
    }),
  )
}
