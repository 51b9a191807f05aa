-- Services connect with roles that do not own the tables (packages/database/src/roles). What needs ownership at run time is a
-- function of the owner with a fixed search_path. Each function checks its own conditions, whatever the caller asks for.

-- Retention drops the log lines of a day. False: there is no such partition (any more).
CREATE FUNCTION "drop_log_partition"("day" date, "older_than_days" integer) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
  SET lock_timeout = '1s'
AS $$
DECLARE
  partition text := 'log_chunks_' || to_char("day", 'YYYYMMDD');
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  oldest timestamptz;
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT min(created_at) INTO oldest FROM deployments WHERE completed_at IS NULL;
  PERFORM set_config('slipway.tenant', tenant, true);
  IF coalesce("older_than_days", 0) < 1 OR "day" IS NULL
     OR ("day" + 1)::timestamp AT TIME ZONE 'UTC' > least(now() - make_interval(days => "older_than_days"), oldest) THEN
    RAISE EXCEPTION 'drop_log_partition: % did not end % days ago, or a deployment from before its end still runs', "day", "older_than_days"
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                  WHERE i.inhparent = 'log_chunks'::regclass AND c.relname = partition) THEN
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE %I', partition);
  RETURN true;
END $$;

-- Retention drops the audit log up to a position of its chain. The record that it leaves says where the chain begins from then on.
-- Returns the number of dropped records.
CREATE FUNCTION "drop_audit"("up_to" bigint, "older_than_days" integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  head audit_links%ROWTYPE;
  records bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('slipway.audit_drop'));
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT * INTO head FROM audit_links WHERE position = "up_to" AND position < (SELECT max(position) FROM audit_links);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'drop_audit: % is no position before the last one of the chain', "up_to"
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF coalesce("older_than_days", 0) < 1
     OR EXISTS (SELECT FROM audit_links l JOIN audit_records r ON r.number = l.record_number
                 WHERE l.position <= "up_to" AND r.at >= now() - make_interval(days => "older_than_days")) THEN
    RAISE EXCEPTION 'drop_audit: a record up to position % is not % days old', "up_to", "older_than_days"
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT count(*) INTO records FROM audit_links WHERE position <= "up_to";
  INSERT INTO audit_records (id, action, resource_type, details)
  VALUES (gen_random_uuid(), 'audit.drop', 'audit', jsonb_build_object(
    'position', head.position, 'hash', head.hash, 'records', records, 'older_than_days', "older_than_days"));
  DELETE FROM audit_records r USING audit_links l WHERE l.record_number = r.number AND l.position <= "up_to";
  DELETE FROM audit_links WHERE position <= "up_to";
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN records;
END $$;

-- A row lock needs the right to update some column of the table. Services that only lock rows have it on the key, and no key
-- ever changes.
CREATE FUNCTION "refuse_new_key"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the key of % never changes', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER "fixed_key" BEFORE UPDATE OF "id" ON "deployments" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_new_key"();
CREATE TRIGGER "fixed_key" BEFORE UPDATE OF "id" ON "targets" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_new_key"();
CREATE TRIGGER "fixed_key" BEFORE UPDATE OF "id" ON "pending_requests" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_new_key"();
CREATE TRIGGER "fixed_key" BEFORE UPDATE OF "id" ON "dropped_deployments" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_new_key"();
CREATE TRIGGER "fixed_key" BEFORE UPDATE OF "id" ON "outbox" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_new_key"();
CREATE TRIGGER "fixed_key" BEFORE UPDATE OF "epoch" ON "leases" FOR EACH STATEMENT EXECUTE FUNCTION "refuse_new_key"();
CREATE TRIGGER "fixed_key" BEFORE UPDATE OF "instance_id", "slot" ON "instance_slots"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_new_key"();

-- Counts and names of deployments are written by triggers alone: no service has the right to write them.
ALTER FUNCTION "count_deployments_added"() SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION "count_deployments_changed"() SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION "count_deployments_removed"() SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION "fold_deployment_counts"() SECURITY DEFINER SET search_path = public, pg_temp;

-- Ask for the tenant first: the functions read tables that services which act for all tenants have no right to read.
ALTER POLICY "tenant" ON "contents" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_content"("id"));
ALTER POLICY "tenant" ON "content_chunks" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_upload"("upload_id"));
