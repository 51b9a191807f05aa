-- The names that each source declares sensitive. Without this table, showing one definition reads all definitions.
CREATE TABLE "sensitive_names" (
  "source_id" UUID NOT NULL,
  "name" TEXT NOT NULL,

  CONSTRAINT "sensitive_names_pkey" PRIMARY KEY ("source_id", "name")
);
CREATE INDEX "sensitive_names_name_idx" ON "sensitive_names" ("name");
ALTER TABLE "sensitive_names" ADD CONSTRAINT "sensitive_names_source_id_fkey"
  FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "sensitive_names" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "sensitive_names" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_source"("source_id"));

-- A trigger, not the gateway, fills the table: gateways of the release before publish definitions, too.
CREATE FUNCTION "note_sensitive_names"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sensitive_names (source_id, name)
    SELECT NEW.source_id, variable ->> 'name' FROM jsonb_array_elements(NEW.definition -> 'variables') AS variable
     WHERE variable -> 'sensitive' = 'true'
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER "note_sensitive_names" AFTER INSERT ON "source_versions"
  FOR EACH ROW EXECUTE FUNCTION "note_sensitive_names"();

INSERT INTO "sensitive_names" ("source_id", "name")
  SELECT DISTINCT v."source_id", variable ->> 'name'
    FROM "source_versions" v, jsonb_array_elements(v."definition" -> 'variables') AS variable
   WHERE variable -> 'sensitive' = 'true';

-- Until now a value was hidden where any source declared its name. Existing records, and those that the release before still
-- makes, therefore begin with all these names: no hidden value becomes readable. Later releases always give the column.
-- The function sees the sources of all tenants while it reads, whichever tenant the connection serves.
CREATE FUNCTION "declared_sensitive_names"() RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  names text[];
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT coalesce(array_agg(DISTINCT name ORDER BY name), '{}') INTO names FROM sensitive_names;
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN names;
END $$;
ALTER TABLE "tenants" ADD COLUMN "sensitive_variables" TEXT[] NOT NULL DEFAULT "declared_sensitive_names"();
ALTER TABLE "environments" ADD COLUMN "sensitive_variables" TEXT[] NOT NULL DEFAULT "declared_sensitive_names"();
ALTER TABLE "targets" ADD COLUMN "sensitive_variables" TEXT[] NOT NULL DEFAULT "declared_sensitive_names"();
