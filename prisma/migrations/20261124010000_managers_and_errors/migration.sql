-- The file set that describes a record (docs/decisions/0066-records-have-a-manager.md).
ALTER TABLE "tenants" ADD COLUMN "managed_by" TEXT;
ALTER TABLE "environments" ADD COLUMN "managed_by" TEXT;
ALTER TABLE "targets" ADD COLUMN "managed_by" TEXT;
ALTER TABLE "sources" ADD COLUMN "managed_by" TEXT;
ALTER TABLE "freezes" ADD COLUMN "managed_by" TEXT;

-- Why a target is not reached, and since when.
ALTER TABLE "target_facts" ADD COLUMN "last_error" TEXT, ADD COLUMN "failing_since" TIMESTAMPTZ(3);
