-- The list of content shows a tenant when its users last uploaded what, so it may read its own rows. The store alone writes them.
CREATE POLICY "tenant" ON "content_tenants" FOR SELECT USING (
  "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
