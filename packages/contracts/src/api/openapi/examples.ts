import { STORY } from '../../story.ts'
import type { OperationId } from '../operations.ts'

/** Bodies of requests that are not the examples of all their fields together. */
export const EXAMPLES: Partial<Record<OperationId, unknown>> = {
  login: { email: 'admin@example.com', password: 'correct horse battery staple' },
  verifyTwoFactor: { code: '123456', pending_token: 'eyJhbGciOiJIUzI1NiJ9…' },
  createApiKey: { name: 'pipeline', expires_in_days: 90, scopes: ['deployments:create', 'deployments:read'] },
  createAction: {
    name: 'restart web',
    version: '1.0.0',
    definition: {
      type: 'script',
      script: 'systemctl restart "$SLIPWAY_VAR_SERVICE"',
      rollback: { script: 'systemctl start "$SLIPWAY_VAR_SERVICE"' },
      variables: [{ name: 'service', required: true }],
    },
  },
  createSequence: {
    name: 'release web',
    version: '1.0.0',
    definition: {
      actions: [{ action_id: STORY.action, version_requirement: '^1.0.0', variables: { service: 'nginx' } }],
    },
  },
  createSolution: {
    name: 'storefront',
    version: '1.0.0',
    definition: { sequences: [{ sequence_id: STORY.sequence }] },
  },
  createTarget: {
    name: 'web-1',
    tags: [{ key: 'role', value: 'web' }],
    connection: { type: 'ssh', host: 'web-1.example.com', username: 'deploy', private_key: '-----BEGIN…' },
  },
  createEnvironment: { name: 'production', variables: { region: 'eu-west-1' } },
  createTenant: { name: 'Acme', slug: 'acme' },
  createFreeze: {
    name: 'end of year',
    start_time: '2026-12-20T00:00:00+01:00',
    end_time: '2027-01-04T00:00:00+01:00',
  },
  createDeployment: {
    solution_id: STORY.solution,
    version_requirement: '^1.0.0',
    target_tags: [{ key: 'role', value: 'web' }],
    target_mode: { rolling: { batch_size: 2 } },
    failure_strategy: 'stop_on_first_failure',
    rollback_strategy: 'failed_target_only',
    variables: { service: 'nginx' },
  },
  previewDeployment: { action_id: STORY.action, target_ids: [STORY.target] },
  redeployDeployment: { only_failed_targets: true },
  checkReleases: { solution_id: STORY.solution, target_ids: [STORY.target] },
  cancelDeployment: { reason: 'wrong version' },
}
