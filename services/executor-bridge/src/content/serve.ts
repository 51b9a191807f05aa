import { contentBytes, int8, statement, text, uuid } from '@slipway/database'
import { Problem } from '@slipway/domain'
import type { Bridge } from '../bridge.ts'

/** Content that an action of a run needs, while the instance holds the lease of the run. */
const findContentOfRuns = statement({
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

const SHA256 = /^[0-9a-f]{64}$/

/** Finds content for an instance. Damaged content ends the answer before its end. */
export async function contentOfRuns(
  { database }: Bridge,
  instanceId: string,
  id: string,
): Promise<{ bytes: AsyncIterable<Buffer>; length: number }> {
  const content = SHA256.test(id) ? await findContentOfRuns.first(database, { id, instance_id: instanceId }) : null
  if (content === null) throw new Problem('NOT_FOUND', 'No run of this instance uses such content')
  return { bytes: contentBytes(database, content), length: content.size }
}
