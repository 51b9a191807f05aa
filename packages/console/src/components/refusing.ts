import type { Answer, Schema } from '@slipway/client'

export type Blocker = Answer<'previewDeployment'>['blockers'][number]

/** What an administrator can pass: freezes by one override, the rules of environments by the other. */
export type Override = 'freeze' | 'rules'

const OVERRIDES: Partial<Record<Blocker['code'], Override>> = {
  approval: 'rules',
  window: 'rules',
  promotion: 'rules',
  freeze: 'freeze',
}

/** The overrides that the user may give, out of those that pass one of the blockers. */
export const overridesOf = (blockers: readonly Blocker[]): Override[] => [
  ...new Set(blockers.flatMap(({ code, can_override }) => (can_override ? (OVERRIDES[code] ?? []) : []))),
]

/** The blockers that make the server refuse the request. With the others, or with a later start, it waits. */
export function refusingOf(
  blockers: readonly Blocker[],
  { start_at }: Pick<Schema<'CreateDeployment'>, 'start_at'>,
  now: number,
): Blocker[] {
  const start = start_at === undefined ? 0 : Date.parse(start_at)
  const isLater = start > now
  return blockers.filter(({ code, until }) => {
    if (code === 'freeze') return !isLater
    if (code !== 'promotion') return false
    return !isLater || until === null || Date.parse(until) > start
  })
}

/** The overrides without which the server refuses the request. */
export const neededOverrides = (refusing: readonly Blocker[]): Override[] => [
  ...new Set(refusing.flatMap(({ code }) => OVERRIDES[code] ?? [])),
]

/** What the button does that creates the request. */
export function startLabel(blockers: readonly Blocker[]): string {
  const codes = blockers.map(({ code }) => code)
  if (codes.includes('approval')) return 'Ask for approval'
  return codes.includes('start_time') ? 'Schedule' : 'Start'
}
