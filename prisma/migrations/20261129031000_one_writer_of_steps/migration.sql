-- `writeSteps` in packages/database computes what follows from steps. Triggers did it before.
ALTER TABLE "deployments" ADD COLUMN "variant" TEXT;

DO $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  UPDATE deployments SET variant = variant_of_deployment(id) WHERE source_type <> 'action' AND completed_at IS NULL;
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;

DROP TRIGGER "releases" ON "steps";
DROP TRIGGER "target_locks" ON "steps";
DROP TRIGGER "releases" ON "deployments";
DROP TRIGGER "target_locks" ON "deployments";
DROP TRIGGER "count_added" ON "deployments";
DROP TRIGGER "count_changed" ON "deployments";
DROP TRIGGER "count_removed" ON "deployments";
DROP TRIGGER "checks" ON "release_heads";
DROP TRIGGER "variant" ON "releases";

DROP FUNCTION "release_moved_steps"();
DROP FUNCTION "release_ended_deployments"();
DROP FUNCTION "write_releases"(uuid[], uuid[]);
DROP FUNCTION "release_locks_of_parts"();
DROP FUNCTION "release_locks_of_ended"();
DROP FUNCTION "tell_freed_targets"(uuid[], bigint[]);
DROP FUNCTION "release_heads_moved"();
DROP FUNCTION "renew_release_checks"(uuid[], uuid[]);
DROP FUNCTION "release_gets_variant"();
DROP FUNCTION "variant_of_deployment"(uuid);
DROP FUNCTION "count_deployments_added"();
DROP FUNCTION "count_deployments_changed"();
DROP FUNCTION "count_deployments_removed"();
DROP FUNCTION "fold_deployment_counts"();
