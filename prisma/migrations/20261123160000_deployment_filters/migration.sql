-- Filters of the list of deployments. At 300,000 deployments, a count by one of them read the whole table (100 to 240 ms). Each
-- index holds all columns that the count and the order need, so that they look at no table.
CREATE INDEX "deployments_source_id_created_at_id_tenant_id_source_type_idx" ON "deployments" ("source_id", "created_at" DESC, "id" DESC, "tenant_id", "source_type");
CREATE INDEX "deployments_source_version_created_at_id_tenant_id_idx" ON "deployments" ("source_version", "created_at" DESC, "id" DESC, "tenant_id");
CREATE INDEX "deployments_triggered_by_created_at_id_tenant_id_idx" ON "deployments" ("triggered_by", "created_at" DESC, "id" DESC, "tenant_id");
