-- The second wall between tenants: it holds where a query of the gateway forgets the first (tenancy/visibility.ts).
--
-- Every connection has a setting `slipway.tenant`: `*` sees all rows, a tenant's id that tenant's and, where a kind of
-- record can be shared, those of no tenant; empty or unset sees none. FORCE: the tables' owner is held to it as well.
-- Settings are read in a sub-select, so that a statement reads them once and not once a row.

-- Records that a tenant has, or that all share: those one can see, not change.
ALTER TABLE "environments" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "environments" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY "shared" ON "environments" FOR SELECT USING ("tenant_id" IS NULL AND (SELECT coalesce(current_setting('slipway.tenant', true), '')) <> '');
ALTER TABLE "targets" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "targets" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY "shared" ON "targets" FOR SELECT USING ("tenant_id" IS NULL AND (SELECT coalesce(current_setting('slipway.tenant', true), '')) <> '');
ALTER TABLE "sources" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "sources" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY "shared" ON "sources" FOR SELECT USING ("tenant_id" IS NULL AND (SELECT coalesce(current_setting('slipway.tenant', true), '')) <> '');
ALTER TABLE "freezes" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "freezes" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY "shared" ON "freezes" FOR SELECT USING ("tenant_id" IS NULL AND (SELECT coalesce(current_setting('slipway.tenant', true), '')) <> '');

-- Nobody shares deployments, a tenant, its users or what was done in it.
ALTER TABLE "deployments" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "deployments" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE "pending_requests" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "pending_requests" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE "tenants" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "tenants" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE "users" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "users" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE "audit_records" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "audit_records" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
-- Whoever acts or is refused leaves a record, also before it is known who it is. Writing shows nothing.
CREATE POLICY "append" ON "audit_records" FOR INSERT WITH CHECK (true);

-- What belongs to one of those records is seen with it. By functions: they are called for one tenant's connections only,
-- and a statement that sees all is planned as if they were not there, which a sub-select on the parent would not allow.
CREATE FUNCTION "sees_deployment"("record" uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM deployments WHERE id = record);
END $$;
CREATE FUNCTION "sees_target"("record" uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM targets WHERE id = record);
END $$;
CREATE FUNCTION "sees_source"("record" uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM sources WHERE id = record);
END $$;
CREATE FUNCTION "sees_user"("record" uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM users WHERE id = record);
END $$;

ALTER TABLE "target_tags" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "target_tags" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_target"("target_id"));
ALTER TABLE "target_facts" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "target_facts" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_target"("target_id"));
ALTER TABLE "source_versions" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "source_versions" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_source"("source_id"));
ALTER TABLE "user_roles" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "user_roles" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));
ALTER TABLE "refresh_tokens" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "refresh_tokens" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));
ALTER TABLE "recovery_codes" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "recovery_codes" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));
ALTER TABLE "sessions" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "sessions" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));
ALTER TABLE "api_keys" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "api_keys" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));
ALTER TABLE "deployment_actions" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "deployment_actions" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_deployment"("deployment_id"));
ALTER TABLE "deployment_targets" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "deployment_targets" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_deployment"("deployment_id"));
ALTER TABLE "deployment_transitions" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "deployment_transitions" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_deployment"("deployment_id"));
ALTER TABLE "steps" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "steps" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_deployment"("deployment_id"));
ALTER TABLE "run_progress" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "run_progress" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_deployment"("deployment_id"));
ALTER TABLE "command_results" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "command_results" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_deployment"("deployment_id"));
ALTER TABLE "log_chunks" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "log_chunks" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_deployment"("deployment_id"));

-- Partitions are reached through their table, whose policy holds. Directly nobody sees them: they have none.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'log_chunks'::regclass LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION "ensure_log_partitions"("days_ahead" integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  day date;
  partition text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('slipway.log_partitions'));
  FOR day IN SELECT generate_series((now() AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date + "days_ahead", '1 day')::date LOOP
    partition := 'log_chunks_' || to_char(day, 'YYYYMMDD');
    CONTINUE WHEN to_regclass(format('%I', partition)) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I PARTITION OF log_chunks FOR VALUES FROM (%L) TO (%L)',
      partition, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
  END LOOP;
END $$;

-- Places in the queue count everybody who waits, also those whom one cannot see; of them this tells nothing else.
CREATE FUNCTION "waiting_positions"() RETURNS TABLE ("id" uuid, "position" bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  RETURN QUERY SELECT r.id, row_number() OVER (ORDER BY r.priority DESC, r.queued_at, r.id)
    FROM pending_requests r WHERE r.status = 'pending';
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;
