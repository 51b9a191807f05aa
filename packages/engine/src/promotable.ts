import type { PromotionState } from './snapshot.ts'

/** What may go on from one environment to another. */
export interface Promotable {
  /** The one version in force there, with its parts; null: there is none, or there are several. */
  found: { version: string; variant: string | null } | null
  since: Date | null
  /** When it may go on; null: it may not, or it may now. */
  ready_at: Date | null
  /** Why it may not go on now, in sentences. */
  blockers: string[]
}

/** `hours`: what the promotion rule of the other environment asks for. */
export function promotableOf(
  { versions, drifted, since }: PromotionState,
  { from, hours, at }: { from: string; hours: number; at: Date },
): Promotable {
  const none = { found: null, since: null, ready_at: null }
  const [only, ...others] = versions
  if (only === undefined || since === null) {
    return { ...none, blockers: [`The source is on no target of "${from}": deploy it there first`] }
  }
  if (others.length > 0) {
    const has = versions.map(({ version, targets }) => `${version} on ${targets}`).join(', ')
    return { ...none, blockers: [`"${from}" has several versions (${has}): deploy one to all its targets first`] }
  }
  const { version, variant } = only
  const ready = new Date(since.getTime() + hours * 3_600_000)
  const isDrifted = drifted > 0
  return {
    found: { version, variant },
    since,
    ready_at: !isDrifted && ready > at ? ready : null,
    blockers: [
      ...(isDrifted ? [`${drifted} of the targets of "${from}" drifted: deploy ${version} there again first`] : []),
      ...(!isDrifted && ready > at ? [`${version} must stay in "${from}" until ${ready.toISOString()}`] : []),
    ],
  }
}
