import { once } from 'node:events'
import { contentBytes, int8, statement, text, uuid } from '@slipway/database'
import type { Response } from 'express'
import type { Bridge } from '../bridge.ts'
import { Refusal } from '../callers/refusal.ts'

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
/** The longest time in which an instance may read no byte. */
const IDLE_MS = 60_000

/** Sends content to an instance. Damaged content ends the answer before its end. */
export async function serveContent(
  { database }: Bridge,
  instanceId: string,
  id: string,
  response: Response,
): Promise<void> {
  const content = SHA256.test(id) ? await findContentOfRuns.first(database, { id, instance_id: instanceId }) : null
  if (content === null) throw new Refusal(404, 'NOT_FOUND', 'No run of this instance uses such content')
  const chunks = contentBytes(database, content)
  // Before the header, so that damage in the first chunk is still answered with a status.
  let chunk = await chunks.next()
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': content.size })
  response.setTimeout(IDLE_MS, () => response.destroy())
  const gone = once(response, 'close')
  for (; !chunk.done; chunk = await chunks.next()) {
    if (response.destroyed) return
    if (!response.write(chunk.value)) await Promise.race([once(response, 'drain'), gone])
  }
  response.end()
}
