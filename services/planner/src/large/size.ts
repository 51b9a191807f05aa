import type { CommandBody, Envelope } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'
import { hasTagged, hasTargets } from './size.sql.ts'

/** Planning so many targets takes a few milliseconds. More would delay small requests. */
const MANY_TARGETS = 500

/**
 * Whether the plan of a command may be large. Counting the targets of tags and originals is cheaper than blocking the event
 * loop.
 */
export async function isLarge(database: Queryable, { body }: Envelope): Promise<boolean> {
  const { request, deployment_id } = body as Partial<CommandBody<'plan.redeploy'>>
  const { target_ids, target_tags } = request ?? {}
  if ((target_ids?.length ?? 0) > MANY_TARGETS) return true
  if (target_tags !== undefined && target_tags.length > 0) {
    const keys = target_tags.map(({ key }) => key)
    const values = target_tags.map(({ value }) => value)
    return (await hasTagged.run(database, { keys, values, count: MANY_TARGETS })) > 0
  }
  if (deployment_id === undefined || target_ids !== undefined) return false
  return (await hasTargets.run(database, { deployment_id, count: MANY_TARGETS })) > 0
}
