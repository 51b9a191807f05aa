import { array, int4, jsonb, present, rowSet, statement, text, uuid } from '@slipway/database'
import { isoTime } from '@slipway/database/read-models'
import type { Analysis } from '@slipway/domain/analysis'

/** The part of an analysis that the endpoint gives. */
export type EndpointAnalysis = Omit<Analysis, 'analyzed_at' | 'fingerprint'>

/** Adds an opinion to the results that still have the analysis that it is about. */
export const addOpinion = statement({
  name: 'executor-bridge.analysis.add-opinion',
  parameters: {
    deployment_id: uuid,
    action: int4,
    targets: array(int4),
    fingerprint: text,
    opinion: jsonb<EndpointAnalysis>(),
  },
  sql: `UPDATE command_results
       SET analysis = analysis || :opinion::jsonb || jsonb_build_object('analyzed_at', ${isoTime('clock_timestamp()')})
     WHERE deployment_id = :deployment_id AND action_index = :action AND target_index = ANY (:targets)
       AND status = 'failed' AND analysis ->> 'fingerprint' = :fingerprint`,
})

/** The name and host of each target: they differ on targets that fail in the same way. */
export const findPlaces = statement({
  name: 'executor-bridge.analysis.find-places',
  parameters: { deployment_id: uuid, targets: array(int4) },
  row: { target_index: int4, names: array(text) },
  sql: `SELECT dt.target_index, array_remove(ARRAY[dt.target_name, t.connection ->> 'host'], NULL) AS names
      FROM deployment_targets dt LEFT JOIN targets t ON t.id = dt.target_id
     WHERE dt.deployment_id = :deployment_id AND dt.target_index = ANY (:targets)`,
})

/** The analyses of these steps, as far as there are any. */
export const findAnalyses = statement({
  name: 'executor-bridge.analysis.find',
  parameters: { deployment_id: uuid, steps: rowSet({ target_index: int4, action_index: int4 }) },
  row: { target: int4, action: int4, analysis: present(jsonb<Analysis>()) },
  sql: `SELECT r.target_index AS target, r.action_index AS action, r.analysis
      FROM command_results r
      JOIN :steps AS p USING (target_index, action_index)
     WHERE r.deployment_id = :deployment_id AND r.analysis IS NOT NULL`,
})
