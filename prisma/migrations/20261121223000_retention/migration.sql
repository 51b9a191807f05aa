-- Deployments that retention dropped, whose steps, results and lines are still to be deleted: by batches, after them.
CREATE TABLE "dropped_deployments" (
    "id" UUID NOT NULL,

    CONSTRAINT "dropped_deployments_pkey" PRIMARY KEY ("id")
);

-- Results are looked for by age, by retention alone. They come in the order of time, so a few pages tell where old ones are.
CREATE INDEX "command_results_completed_at_idx" ON "command_results" USING BRIN ("completed_at");

-- Up to where retention has dropped the audit log: it says so in a record of the log itself, which the chain vouches for.
CREATE FUNCTION "audit_dropped"() RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT coalesce(max((details ->> 'position')::bigint), 0) FROM audit_records WHERE action = 'audit.drop');
END $$;

-- Records and links are still written once. Only what lies before such a place may be removed.
CREATE FUNCTION "refuse_record_removal"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  dropped bigint := audit_dropped();
BEGIN
  IF EXISTS (SELECT FROM removed r LEFT JOIN audit_links l ON l.record_number = r.number
              WHERE l.position IS NULL OR l.position > dropped) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;
CREATE FUNCTION "refuse_link_removal"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  dropped bigint := audit_dropped();
BEGIN
  IF EXISTS (SELECT FROM removed WHERE position > dropped) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER "audit_records_append_only" ON "audit_records";
CREATE TRIGGER "audit_records_append_only" BEFORE UPDATE OR TRUNCATE ON "audit_records"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "audit_records_removal" AFTER DELETE ON "audit_records" REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_record_removal"();
DROP TRIGGER "audit_links_append_only" ON "audit_links";
CREATE TRIGGER "audit_links_append_only" BEFORE UPDATE OR TRUNCATE ON "audit_links"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "audit_links_removal" AFTER DELETE ON "audit_links" REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_link_removal"();
