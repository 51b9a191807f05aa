import { DEPLOYMENT_STATES, isFinalDeploymentState, type SourceType } from '@slipway/domain'
import { isoTime, milliseconds } from './json.ts'

const finalStates = DEPLOYMENT_STATES.filter(isFinalDeploymentState).map((state) => `'${state}'`)

/** Such as `solution_id`, `solution_name` and `solution_version`: null for sources of another type. */
function sourceFields(type: SourceType): Record<string, string> {
  const field = (name: string) => `CASE WHEN d.source_type = '${type}' THEN d.source_${name} END`
  return { [`${type}_id`]: field('id'), [`${type}_name`]: field('name'), [`${type}_version`]: field('version') }
}

/** SQL: the deployments of this table or subquery as `d`, with their progress `p`. */
export const withProgress = (deployments: string) =>
  `${deployments} d LEFT JOIN run_progress p ON p.deployment_id = d.id`

/** SQL: one more than the last index. The primary key finds it at once; counting would read every row of a large plan. */
const TARGET_COUNT =
  'coalesce((SELECT t.target_index + 1 FROM deployment_targets t WHERE t.deployment_id = d.id ORDER BY t.target_index DESC LIMIT 1), 0)'

/**
 * SQL: the versions that a deployment replaced. Of a few targets: a list of large deployments must not read all their releases. Of
 * releases that everybody who sees the deployment may see, because lists of all tenants show it, too.
 */
const PREVIOUS_VERSIONS = `(SELECT coalesce(json_agg(v.version), '[]') FROM (
    SELECT b.source_version AS version FROM (
      SELECT r.target_id, r.replaced_deployment_id FROM releases r WHERE r.deployment_id = d.id
       ORDER BY r.target_id LIMIT 25) r
      JOIN releases b ON b.deployment_id = r.replaced_deployment_id AND b.target_id = r.target_id
     WHERE d.tenant_id IS NULL OR b.tenant_id = d.tenant_id
     GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 3) v)`

/** The fields of a deployment summary, with an SQL expression for each. */
export const SUMMARY: Record<string, string> = {
  id: 'd.id',
  source_type: 'd.source_type',
  ...sourceFields('solution'),
  ...sourceFields('sequence'),
  ...sourceFields('action'),
  state: 'd.state',
  progress: `CASE WHEN d.state IN (${finalStates.join(', ')}) THEN 1
    ELSE coalesce(p.ended_steps::float8 / nullif(d.total_steps, 0), 0) END`,
  total_steps: 'd.total_steps',
  completed_steps: 'coalesce(p.completed_steps, 0)',
  failed_steps: 'coalesce(p.failed_steps, 0)',
  tenant_id: 'd.tenant_id',
  tenant_name: 'd.tenant_name',
  environment_id: 'd.environment_id',
  environment_name: 'd.environment_name',
  triggered_by: 'd.triggered_by',
  api_key_name: 'd.api_key_name',
  target_count: TARGET_COUNT,
  previous_versions: PREVIOUS_VERSIONS,
  created_at: isoTime('d.created_at'),
  started_at: isoTime('d.started_at'),
  completed_at: isoTime('d.completed_at'),
  duration_ms: milliseconds('d.started_at', 'd.completed_at'),
}

/** For the answer of a create: the summary at the start, even if the deployment has ended already. */
export const SUMMARY_AS_STARTED: Record<string, string> = {
  ...SUMMARY,
  state: `'running'`,
  progress: '0',
  completed_steps: '0',
  failed_steps: '0',
  completed_at: 'NULL',
  duration_ms: 'NULL',
}

/**
 * SQL: why a step failed or was cancelled, and whether its command is known to have ended. `error_message` of a step holds the
 * cause alone, because the confirmation comes later.
 */
export const stepError = (step: string) =>
  `${step}.error_message || CASE ${step}.end_confirmed WHEN true THEN '; it was ended'
                                   WHEN false THEN '; its end is not confirmed' ELSE '' END`
