-- CreateTable
CREATE TABLE "content_tenants" (
    "id" BIGSERIAL NOT NULL,
    "content_id" TEXT NOT NULL,
    "tenant_id" UUID,
    "size" BIGINT NOT NULL,
    "uploaded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "content_tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "content_usage" (
    "id" BIGSERIAL NOT NULL,
    "scope" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,

    CONSTRAINT "content_usage_pkey" PRIMARY KEY ("id")
);

-- AlterTable
ALTER TABLE "content_uploads" ADD COLUMN "tenant_id" UUID, ADD COLUMN "reserved_bytes" BIGINT NOT NULL DEFAULT 0;

-- CreateIndex
CREATE UNIQUE INDEX "content_tenants_content_id_tenant_id_key" ON "content_tenants"("content_id", "tenant_id") NULLS NOT DISTINCT;

-- CreateIndex
CREATE INDEX "content_tenants_tenant_id_size_idx" ON "content_tenants"("tenant_id", "size");

-- CreateIndex
CREATE INDEX "content_tenants_uploaded_at_idx" ON "content_tenants"("uploaded_at");

-- CreateIndex
CREATE INDEX "content_usage_scope_idx" ON "content_usage"("scope");

-- AddForeignKey
ALTER TABLE "content_tenants" ADD CONSTRAINT "content_tenants_content_id_fkey" FOREIGN KEY ("content_id") REFERENCES "contents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "content_tenants" ADD CONSTRAINT "content_tenants_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Only the content store, which acts for all tenants, reads and writes these tables.
ALTER TABLE "content_tenants" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "store" ON "content_tenants" USING ((SELECT current_setting('slipway.tenant', true)) = '*');
ALTER TABLE "content_usage" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "store" ON "content_usage" USING ((SELECT current_setting('slipway.tenant', true)) = '*');
-- Its rows are inserted and folded quickly, and always read together.
ALTER TABLE "content_usage" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- A scope of content_usage that is not 'total'.
CREATE FUNCTION "content_scope"("tenant" uuid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN coalesce("tenant"::text, 'no-tenant');

-- The triggers insert differences and update no row. A counter row per tenant would make uploads wait for each other, and
-- the sweep could deadlock with an upload.
CREATE FUNCTION "count_content_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO content_usage (scope, bytes) SELECT 'total', sum(size) FROM added HAVING sum(size) <> 0;
  RETURN NULL;
END $$;
CREATE FUNCTION "count_content_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO content_usage (scope, bytes) SELECT 'total', -sum(size) FROM removed HAVING sum(size) <> 0;
  RETURN NULL;
END $$;
CREATE FUNCTION "count_content_of_tenant_added"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO content_usage (scope, bytes)
  SELECT content_scope(tenant_id), sum(size) FROM added GROUP BY 1 HAVING sum(size) <> 0;
  RETURN NULL;
END $$;
CREATE FUNCTION "count_content_of_tenant_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO content_usage (scope, bytes)
  SELECT content_scope(tenant_id), -sum(size) FROM removed GROUP BY 1 HAVING sum(size) <> 0;
  RETURN NULL;
END $$;
CREATE FUNCTION "count_reserved_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO content_usage (scope, bytes)
  SELECT scope, sum(bytes) FROM (
    SELECT 'total' AS scope, reserved_bytes AS bytes FROM added
    UNION ALL SELECT content_scope(tenant_id), reserved_bytes FROM added
    UNION ALL SELECT 'total', -reserved_bytes FROM removed
    UNION ALL SELECT content_scope(tenant_id), -reserved_bytes FROM removed) changed
  GROUP BY scope HAVING sum(bytes) <> 0;
  RETURN NULL;
END $$;
CREATE FUNCTION "count_reserved_removed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO content_usage (scope, bytes)
  SELECT scope, sum(bytes) FROM (
    SELECT 'total' AS scope, -reserved_bytes AS bytes FROM removed
    UNION ALL SELECT content_scope(tenant_id), -reserved_bytes FROM removed) gone
  GROUP BY scope HAVING sum(bytes) <> 0;
  RETURN NULL;
END $$;

CREATE TRIGGER "count_added" AFTER INSERT ON "contents" REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_content_added"();
CREATE TRIGGER "count_removed" AFTER DELETE ON "contents" REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_content_removed"();
CREATE TRIGGER "count_added" AFTER INSERT ON "content_tenants" REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_content_of_tenant_added"();
CREATE TRIGGER "count_removed" AFTER DELETE ON "content_tenants" REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_content_of_tenant_removed"();
-- An upload is inserted without bytes and reserves them afterwards.
CREATE TRIGGER "count_changed" AFTER UPDATE ON "content_uploads" REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_reserved_changed"();
CREATE TRIGGER "count_removed" AFTER DELETE ON "content_uploads" REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION "count_reserved_removed"();

-- The triggers' locks last until this transaction ends: no content is missed, and none is counted twice.
INSERT INTO "content_usage" ("scope", "bytes") SELECT 'total', sum("size") FROM "contents" HAVING sum("size") <> 0;
INSERT INTO "content_tenants" ("content_id", "tenant_id", "size", "uploaded_at")
SELECT DISTINCT c."id", u."tenant_id", c."size", c."uploaded_at"
FROM "contents" c JOIN "content_uploaders" x ON x."content_id" = c."id" JOIN "users" u ON u."id" = x."user_id";
