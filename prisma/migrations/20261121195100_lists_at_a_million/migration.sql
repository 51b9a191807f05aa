-- Row-level security reads `tenant_id` of each row. An index that holds it answers for itself, and a count or a page far down
-- the list looks at no table. A comparison of enums has to wait for the policy, so that no index on an enum is used; the
-- predicate of a partial index is matched by the planner, which needs no comparison.
DROP INDEX "deployments_created_at_id_idx";
CREATE INDEX "deployments_created_at_id_tenant_id_idx" ON "deployments" ("created_at" DESC, "id" DESC, "tenant_id");
DROP INDEX "deployments_source_name_created_at_id_idx";
CREATE INDEX "deployments_source_name_created_at_id_tenant_id_idx" ON "deployments" ("source_name", "created_at" DESC, "id" DESC, "tenant_id");

DROP INDEX "deployments_state_created_at_id_idx";
CREATE INDEX "deployments_pending" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'pending';
CREATE INDEX "deployments_queued" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'queued';
CREATE INDEX "deployments_running" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'running';
CREATE INDEX "deployments_success" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'success';
CREATE INDEX "deployments_failed" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'failed';
CREATE INDEX "deployments_cancelled" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'cancelled';
CREATE INDEX "deployments_rolling_back" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'rolling_back';
CREATE INDEX "deployments_rolled_back" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "state" = 'rolled_back';

DROP INDEX "deployments_source_type_created_at_id_idx";
CREATE INDEX "deployments_of_actions" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "source_type" = 'action';
CREATE INDEX "deployments_of_sequences" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "source_type" = 'sequence';
CREATE INDEX "deployments_of_solutions" ON "deployments" ("created_at" DESC, "id" DESC) INCLUDE ("tenant_id") WHERE "source_type" = 'solution';

DROP INDEX "audit_records_at_number_idx";
CREATE INDEX "audit_records_at_number_tenant_id_idx" ON "audit_records" ("at" DESC, "number" DESC, "tenant_id");
DROP INDEX "audit_records_action_at_idx";
CREATE INDEX "audit_records_action_at_tenant_id_idx" ON "audit_records" ("action", "at" DESC, "tenant_id");
DROP INDEX "audit_records_actor_id_at_idx";
CREATE INDEX "audit_records_actor_id_at_tenant_id_idx" ON "audit_records" ("actor_id", "at" DESC, "tenant_id");
DROP INDEX "audit_records_resource_type_resource_id_idx";
CREATE INDEX "audit_records_resource_type_resource_id_tenant_id_idx" ON "audit_records" ("resource_type", "resource_id", "tenant_id");
