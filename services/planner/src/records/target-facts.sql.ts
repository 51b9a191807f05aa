import { array, int8, present, statement, text, uuid } from '@slipway/database'

/** The targets that one of these instances did not reach by the last probe. */
export const findMissed = statement({
  name: 'planner.target_facts.find-missed',
  parameters: { ids: array(uuid), instance_ids: array(uuid), limit: int8 },
  row: { name: text, missed_by: present(uuid) },
  sql: `SELECT t.name, f.missed_by FROM target_facts f JOIN targets t ON t.id = f.target_id
     WHERE f.target_id = ANY (:ids) AND f.missed_by = ANY (:instance_ids) ORDER BY t.name, t.id LIMIT :limit`,
})
