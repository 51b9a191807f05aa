import { array, int4, statement, text, uuid } from '@slipway/database'

/** Returns a row if the deployment has more than `count` targets. */
export const hasTargets = statement({
  name: 'planner.deployment_targets.more_than',
  parameters: { deployment_id: uuid, count: int4 },
  sql: 'SELECT FROM deployment_targets WHERE deployment_id = :deployment_id AND target_index = :count',
})

/** Returns a row if more than `count` targets have one of the tags. */
export const hasTagged = statement({
  name: 'planner.target_tags.more_than',
  parameters: { keys: array(text), values: array(text), count: int4 },
  sql: `SELECT FROM target_tags JOIN unnest(:keys::text[], :values::text[]) AS wanted (key, value) USING (key, value)
    OFFSET :count::int LIMIT 1`,
})
