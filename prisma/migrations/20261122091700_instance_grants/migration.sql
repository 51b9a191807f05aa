-- Orchestration instances join with a grant of their own, or with a Kubernetes service account, and no shared token.

-- CreateTable
CREATE TABLE "instance_grants" (
    "id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "uses" INTEGER NOT NULL,
    "used" INTEGER NOT NULL DEFAULT 0,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "tenant_id" UUID,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "instance_grants_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "instance_grants_used_check" CHECK ("used" BETWEEN 0 AND "uses")
);

-- CreateIndex
CREATE INDEX "instance_grants_created_at_id_idx" ON "instance_grants"("created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "instance_grants" ADD CONSTRAINT "instance_grants_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Grants are the installation's: nobody who is bound to a tenant sees them.
ALTER TABLE "instance_grants" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "instance_grants" USING ((SELECT current_setting('slipway.tenant', true)) = '*');

-- AlterTable
ALTER TABLE "instances" ADD COLUMN "tenant_id" UUID,
  ADD COLUMN "allowed_labels" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "next_credential_hash" TEXT,
  ADD COLUMN "former_credential_hash" TEXT,
  ADD COLUMN "former_credential_until" TIMESTAMPTZ(3),
  ADD COLUMN "grant_id" UUID,
  ADD COLUMN "service_account" TEXT,
  ADD COLUMN "join_key_hash" TEXT;

-- Instances that are here keep the labels that they have said.
UPDATE "instances" SET "allowed_labels" = "enrolled_labels";
