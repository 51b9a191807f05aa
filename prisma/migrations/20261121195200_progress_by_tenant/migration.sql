-- Who may see how far a deployment has come is told by the row itself: asking for the deployment of each doubled what a
-- tenant's list costs, and for want of that the counts were open to every tenant.
ALTER TABLE "run_progress" ADD COLUMN     "tenant_id" UUID;

CREATE FUNCTION "progress_of_tenant"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.tenant_id := (SELECT d.tenant_id FROM deployments d WHERE d.id = NEW.deployment_id);
  RETURN NEW;
END $$;
CREATE TRIGGER "of_tenant" BEFORE INSERT ON "run_progress" FOR EACH ROW EXECUTE FUNCTION "progress_of_tenant"();

UPDATE "run_progress" p SET "tenant_id" = d."tenant_id" FROM "deployments" d
 WHERE d."id" = p."deployment_id" AND d."tenant_id" IS NOT NULL;

DROP POLICY "anybody" ON "run_progress";
DROP POLICY "all" ON "run_progress";
CREATE POLICY "tenant" ON "run_progress" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
