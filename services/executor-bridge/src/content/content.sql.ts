import { int8, statement, text, uuid } from '@slipway/database'

/** Content that an action of a run needs, while the instance holds the lease of the run. */
export const findContentOfRuns = statement({
  name: 'executor-bridge.content.find-of-runs',
  parameters: { id: text, instance_id: uuid },
  row: { id: text, size: int8, upload_id: uuid },
  sql: `SELECT c.id, c.size, c.upload_id FROM contents c
     WHERE c.id = :id AND EXISTS (
       SELECT FROM leases l
         JOIN deployment_actions a ON a.deployment_id = l.deployment_id
         JOIN source_contents x ON x.source_id = a.action_id AND x.version = a.action_version
        WHERE l.instance_id = :instance_id AND l.ended_at IS NULL AND x.content_id = c.id)`,
})
