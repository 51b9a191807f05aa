-- Rules of the product stand in TypeScript. What Postgres guards, it guards by rights, columns and constraints where it can.

-- A service that only locks rows needs the right to update one column. This one never changes, so rights replace triggers.
ALTER TABLE "deployments" ADD COLUMN "lockable" BOOLEAN GENERATED ALWAYS AS (true) STORED;
ALTER TABLE "targets" ADD COLUMN "lockable" BOOLEAN GENERATED ALWAYS AS (true) STORED;
ALTER TABLE "pending_requests" ADD COLUMN "lockable" BOOLEAN GENERATED ALWAYS AS (true) STORED;
ALTER TABLE "dropped_deployments" ADD COLUMN "lockable" BOOLEAN GENERATED ALWAYS AS (true) STORED;
ALTER TABLE "outbox" ADD COLUMN "lockable" BOOLEAN GENERATED ALWAYS AS (true) STORED;
ALTER TABLE "leases" ADD COLUMN "lockable" BOOLEAN GENERATED ALWAYS AS (true) STORED;
ALTER TABLE "instance_slots" ADD COLUMN "lockable" BOOLEAN GENERATED ALWAYS AS (true) STORED;
DROP TRIGGER "fixed_key" ON "deployments";
DROP TRIGGER "fixed_key" ON "targets";
DROP TRIGGER "fixed_key" ON "pending_requests";
DROP TRIGGER "fixed_key" ON "dropped_deployments";
DROP TRIGGER "fixed_key" ON "outbox";
DROP TRIGGER "fixed_key" ON "leases";
DROP TRIGGER "fixed_key" ON "instance_slots";
DROP FUNCTION "refuse_new_key"();

-- The usage of content is summed when bytes are reserved: 100,000 contents take 20 ms.
DROP TRIGGER "count_added" ON "contents";
DROP TRIGGER "count_removed" ON "contents";
DROP TRIGGER "count_added" ON "content_tenants";
DROP TRIGGER "count_removed" ON "content_tenants";
DROP TRIGGER "count_changed" ON "content_uploads";
DROP TRIGGER "count_removed" ON "content_uploads";
DROP FUNCTION "count_content_added"(), "count_content_removed"(), "count_content_of_tenant_added"(),
  "count_content_of_tenant_removed"(), "count_reserved_changed"(), "count_reserved_removed"();
DROP TABLE "content_usage";
DROP FUNCTION "content_scope"(uuid);
CREATE INDEX "content_uploads_reserved" ON "content_uploads" ("tenant_id") WHERE "reserved_bytes" > 0;

-- The version of the freezes is a hash of their rows. The gateway says when a recurrence ends.
DROP TRIGGER "version" ON "freezes";
DROP TRIGGER "recurs_until" ON "freezes";
DROP FUNCTION "change_freeze_version"(), "forget_recurs_until"();
DROP TABLE "freeze_version";

-- The gateway writes the names with each version.
DROP TRIGGER "note_sensitive_names" ON "source_versions";
DROP FUNCTION "note_sensitive_names"();
ALTER TABLE "tenants" ALTER COLUMN "sensitive_variables" SET DEFAULT '{}';
ALTER TABLE "environments" ALTER COLUMN "sensitive_variables" SET DEFAULT '{}';
ALTER TABLE "targets" ALTER COLUMN "sensitive_variables" SET DEFAULT '{}';
DROP FUNCTION "declared_sensitive_names"();

-- The bridge writes the tenant of a run, and the gateway deletes the lock of a deleted target.
DROP TRIGGER "of_tenant" ON "run_progress";
DROP FUNCTION "progress_of_tenant"();
DROP TRIGGER "locks_of_deleted" ON "targets";
DROP FUNCTION "drop_locks_of_deleted"();

-- Only the release before called them.
DROP FUNCTION "ensure_log_partitions"(integer), "waiting_positions"();
