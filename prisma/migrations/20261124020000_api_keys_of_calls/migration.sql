-- Audit records name the API key that acted, within their details: so the hashes of the chain cover it by the rule that the release
-- before knows, too (docs/decisions/0018-audit-chain-behind-the-writers.md). Only records with a key are in this index.
CREATE INDEX "audit_records_api_key_idx" ON "audit_records" (("details" #>> '{api_key,id}'), "at" DESC, "tenant_id")
  WHERE ("details" #>> '{api_key,id}') IS NOT NULL;

-- The API key of the call that took the key: the refusal of its command names it.
ALTER TABLE "idempotency_keys" ADD COLUMN "api_key" JSONB;
