-- For search: a trusted extension, which the owner of the database may create.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- CreateTable
CREATE TABLE "deployment_counts" (
    "id" BIGSERIAL NOT NULL,
    "tenant_id" UUID,
    "environment_id" UUID,
    "source_type" "source_kind" NOT NULL,
    "state" "deployment_state" NOT NULL,
    "count" INTEGER NOT NULL,
    "folded" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "deployment_counts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "deployments_environment_id_created_at_id_idx" ON "deployments"("environment_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deployments_state_created_at_id_idx" ON "deployments"("state", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deployments_source_type_created_at_id_idx" ON "deployments"("source_type", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deployments_source_name_idx" ON "deployments" USING GIN ("source_name" gin_trgm_ops);

ALTER TABLE "deployment_counts" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "deployment_counts" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
-- Rows come and go fast and are read by looking at all of them.
ALTER TABLE "deployment_counts" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- One row a statement and kind: what it added, moved or removed. Rows are only ever inserted here, so that writers do not
-- wait for each other as they would for a counter.
CREATE FUNCTION "count_deployments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
  SELECT tenant_id, environment_id, source_type, state, count(*) FROM added GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END $$;
CREATE FUNCTION "count_deployments_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
  SELECT tenant_id, environment_id, source_type, state, sum(n) FROM (
    SELECT tenant_id, environment_id, source_type, state, 1 AS n FROM added
    UNION ALL
    SELECT tenant_id, environment_id, source_type, state, -1 FROM removed) moved
  GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0;
  RETURN NULL;
END $$;
CREATE FUNCTION "count_deployments_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
  SELECT tenant_id, environment_id, source_type, state, -count(*) FROM removed GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END $$;
CREATE TRIGGER "count_added" AFTER INSERT ON "deployments" REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_deployments_added"();
CREATE TRIGGER "count_changed" AFTER UPDATE ON "deployments" REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_deployments_changed"();
CREATE TRIGGER "count_removed" AFTER DELETE ON "deployments" REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_deployments_removed"();

-- The triggers' lock lets nobody write before this transaction ends, so that none is missed and none counted twice.
INSERT INTO "deployment_counts" ("tenant_id", "environment_id", "source_type", "state", "count", "folded")
SELECT "tenant_id", "environment_id", "source_type", "state", count(*), true FROM "deployments" GROUP BY 1, 2, 3, 4;

-- Puts the rows of a kind together into one; how many there were to fold. Readers see the rows before or after, never
-- both. It waits until there are as many new rows as kinds, so that its work stays a share of theirs.
CREATE FUNCTION "fold_deployment_counts"() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  fresh bigint;
  kinds bigint;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('slipway.fold_deployment_counts')) THEN
    RETURN 0;
  END IF;
  SELECT count(*) FILTER (WHERE NOT folded), count(*) FILTER (WHERE folded) INTO fresh, kinds FROM deployment_counts;
  IF fresh < greatest(100, kinds) THEN
    RETURN 0;
  END IF;
  WITH taken AS (DELETE FROM deployment_counts RETURNING *)
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count, folded)
  SELECT tenant_id, environment_id, source_type, state, sum(count), true FROM taken
  GROUP BY 1, 2, 3, 4 HAVING sum(count) <> 0;
  RETURN fresh;
END $$;
