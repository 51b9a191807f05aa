import { type FreezeSet, nextStart } from '@slipway/domain'

/** The freezes that are in force, the first to end first, and the windows that begin next. */
export function freezesOf(freezes: FreezeSet, now: Date, shown: number) {
  const active = freezes
    .presentAt(now)
    .map(({ id, name, end_time }) => ({ id, name, until: new Date(end_time).toISOString() }))
    .sort((one, other) => Date.parse(one.until) - Date.parse(other.until))
  const next = freezes.all
    .flatMap((freeze) => {
      const from = nextStart(freeze, now)
      return from === null ? [] : [{ id: freeze.id, name: freeze.name, from }]
    })
    .sort((one, other) => one.from.getTime() - other.from.getTime())
    .slice(0, shown)
    .map(({ from, ...freeze }) => ({ ...freeze, from: from.toISOString() }))
  return { active, next }
}
