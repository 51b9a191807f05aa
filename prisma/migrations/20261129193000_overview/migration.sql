-- What the first screen reads: the deployments that ended last, the failures of a day with their first failed command, and the requests
-- that wait for approvals.

-- By end, for all tenants and for each. A deployment enters when it ends, so creates do not write these indexes.
CREATE INDEX deployments_ended ON deployments (completed_at DESC, id DESC) INCLUDE (tenant_id)
  WHERE completed_at IS NOT NULL AND NOT is_check;
CREATE INDEX deployments_ended_of_tenant ON deployments (tenant_id, completed_at DESC, id DESC)
  WHERE completed_at IS NOT NULL AND NOT is_check;
CREATE INDEX deployments_failed_by_end ON deployments (completed_at DESC, id DESC) INCLUDE (tenant_id)
  WHERE state IN ('failed', 'rolled_back') AND NOT is_check;

-- Without it, the first failure of a deployment is found by reading all of its results.
CREATE INDEX command_results_failed ON command_results (deployment_id, started_at, target_index, action_index)
  WHERE status = 'failed';

-- Requests that ask for approvals, grouped by what decides who may give one.
CREATE INDEX pending_requests_asking ON pending_requests (freeze_key, source_id)
  INCLUDE (tenant_id, source_type, overrides_rules, author_id, id)
  WHERE status = 'pending' AND parked_for IN ('start_time', 'approval');
