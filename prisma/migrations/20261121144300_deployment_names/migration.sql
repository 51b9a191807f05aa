-- DropIndex
DROP INDEX "deployments_source_name_idx";

-- CreateTable
CREATE TABLE "deployment_names" (
    "id" BIGSERIAL NOT NULL,
    "tenant_id" UUID,
    "source_name" TEXT NOT NULL,

    CONSTRAINT "deployment_names_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "deployments_source_name_created_at_id_idx" ON "deployments"("source_name", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "deployment_names_source_name_tenant_id_key" ON "deployment_names"("source_name", "tenant_id") NULLS NOT DISTINCT;

-- Search looks for the names here and takes the deployments of each by index. Under row-level security Postgres uses no
-- index for ILIKE itself: an operator that could tell of rows by its errors has to wait for the policy.
ALTER TABLE "deployment_names" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "deployment_names" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));

CREATE OR REPLACE FUNCTION "count_deployments_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
  SELECT tenant_id, environment_id, source_type, state, count(*) FROM added GROUP BY 1, 2, 3, 4;
  -- Known names are not tried again, so that nobody waits for a writer of the same one.
  INSERT INTO deployment_names (tenant_id, source_name)
  SELECT DISTINCT tenant_id, source_name FROM added a
   WHERE NOT EXISTS (SELECT FROM deployment_names n
                      WHERE n.source_name = a.source_name AND n.tenant_id IS NOT DISTINCT FROM a.tenant_id)
   ORDER BY 2, 1
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
LOCK TABLE "deployments" IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO "deployment_names" ("tenant_id", "source_name") SELECT DISTINCT "tenant_id", "source_name" FROM "deployments"
  ON CONFLICT DO NOTHING;
