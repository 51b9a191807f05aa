import { array, int4, int8, statement, text, uuid } from '@slipway/database'

export const findTargetIds = statement({
  name: 'executor-bridge.events.find-target-ids',
  parameters: { deployment_id: uuid, targets: array(int4) },
  row: { target_index: int4, target_id: uuid },
  sql: `SELECT target_index, target_id FROM deployment_targets
     WHERE deployment_id = :deployment_id AND target_index = ANY (:targets)`,
})

/** `lines` is JSON text. */
export const addChunk = statement({
  name: 'executor-bridge.events.add-chunk',
  parameters: { deployment_id: uuid, first_line: int8, line_count: int4, lines: text },
  sql: `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
    VALUES (:deployment_id, :first_line, :line_count, :lines::text::jsonb)`,
})
