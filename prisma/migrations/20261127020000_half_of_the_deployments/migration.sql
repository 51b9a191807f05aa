-- The whole condition is in the sub-select: Postgres then expects half of the rows to be visible. With the comparison outside it expects one
-- row in 200, and reads and sorts all rows of a table of some thousands, where a list needs 50 of them by an index.
ALTER POLICY "tenant" ON "deployments" USING (
  (SELECT current_setting('slipway.tenant', true) = '*')
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
