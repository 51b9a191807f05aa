import { isoTime, jsonObject } from './json.ts'

/** SQL: what checks `k` found of a release in force; null where it has no check. */
export const CHECK = `CASE WHEN k.deployment_id IS NOT NULL THEN ${jsonObject({
  result: 'k.result',
  checked_at: isoTime('k.checked_at'),
  drifted_since: isoTime('k.drifted_since'),
  message: 'k.message',
  is_pending: 'k.requested OR k.run_id IS NOT NULL',
  next_at: isoTime('CASE WHEN NOT k.requested THEN k.next_at END'),
})} END`

/** SQL: the item of change streams and webhooks: a release in force `r` on the target `t`, with its check `k`. */
export const RELEASE = jsonObject({
  id: 'k.id',
  target_id: 't.id',
  target_name: 't.name',
  source_type: 'r.source_type',
  source_id: 'r.source_id',
  source_name: 'coalesce(s.name, r.source_name)',
  tenant_id: 'r.tenant_id',
  environment_id: 'coalesce(t.environment_id, r.environment_id)',
  deployment_id: 'r.deployment_id',
  version: 'r.source_version',
  variant: 'r.variant',
  applied_at: isoTime('coalesce(r.ended_at, r.begun_at)'),
  check: CHECK,
})
