-- A version of a solution or a sequence may contain actions by ranges of versions, so two releases of the same version may differ.
-- A variant is a hash of all resolved versions. Null for a single action.
ALTER TABLE "releases" ADD COLUMN "variant" TEXT;

CREATE FUNCTION "variant_of_deployment"("deployment" uuid) RETURNS text LANGUAGE sql STABLE
  SET search_path = public, pg_temp
AS $$
  SELECT left(encode(sha256(convert_to(d.source_version || E'\n' || string_agg(
      concat_ws(' ', a.sequence_id, a.sequence_version, a.action_id, a.action_version), E'\n' ORDER BY a.action_index
    ), 'UTF8')), 'hex'), 16)
    FROM deployments d JOIN deployment_actions a ON a.deployment_id = d.id
   WHERE d.id = deployment AND d.source_type <> 'action'
   GROUP BY d.source_version
$$;

CREATE FUNCTION "release_gets_variant"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  NEW.variant := variant_of_deployment(NEW.deployment_id);
  RETURN NEW;
END $$;
CREATE TRIGGER "variant" BEFORE INSERT ON "releases"
  FOR EACH ROW WHEN (NEW."source_type" <> 'action' AND NEW."variant" IS NULL) EXECUTE FUNCTION "release_gets_variant"();

DO $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  UPDATE releases r SET variant = d.variant
    FROM (SELECT id, variant_of_deployment(id) AS variant
            FROM (SELECT DISTINCT deployment_id AS id FROM releases WHERE source_type <> 'action') known) d
   WHERE d.id = r.deployment_id AND d.variant IS NOT NULL;
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;
