import type { CommandBody, Envelope } from '@slipway/contracts'
import type { Queryable } from '@slipway/database'

/** Planning for so many targets takes some milliseconds, and small requests would wait for more. */
const MANY_TARGETS = 500

/** Whether a command's plan may be large. Tags and originals are counted, which costs less than to find out too late. */
export async function isLarge(database: Queryable, { body }: Envelope): Promise<boolean> {
  const { request, deployment_id } = body as Partial<CommandBody<'plan.redeploy'>>
  const { target_ids, target_tags } = request ?? {}
  if ((target_ids?.length ?? 0) > MANY_TARGETS) return true
  if (target_tags !== undefined && target_tags.length > 0) return manyTagged(database, target_tags)
  if (deployment_id === undefined || target_ids !== undefined) return false
  const { rows } = await database.query(
    'SELECT FROM deployment_targets WHERE deployment_id = $1 AND target_index = $2',
    [deployment_id, MANY_TARGETS],
  )
  return rows.length > 0
}

async function manyTagged(database: Queryable, tags: { key: string; value: string }[]): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT FROM target_tags JOIN unnest($1::text[], $2::text[]) AS wanted (key, value) USING (key, value)
     OFFSET $3 LIMIT 1`,
    [tags.map(({ key }) => key), tags.map(({ value }) => value), MANY_TARGETS],
  )
  return rows.length > 0
}
