-- CreateIndex
CREATE INDEX "audit_records_resource_id_idx" ON "audit_records"("resource_id");
