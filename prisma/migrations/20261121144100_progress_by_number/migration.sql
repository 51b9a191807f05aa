-- Counts of steps, lines and events by a deployment's id, and nothing else: lists read 50 of them, and asking for the
-- parent of each doubled what a tenant's list costs. Their ids come from deployments, which are held back.
DROP POLICY "tenant" ON "run_progress";
CREATE POLICY "anybody" ON "run_progress" FOR SELECT USING (
  (SELECT coalesce(current_setting('slipway.tenant', true), '')) <> '');
CREATE POLICY "all" ON "run_progress" USING ((SELECT current_setting('slipway.tenant', true)) = '*');
