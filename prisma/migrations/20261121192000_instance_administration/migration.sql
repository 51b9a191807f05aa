-- An instance is administered: labels may be changed, which an enrolment with the old ones must not undo, and one that is
-- gone for good may be removed. Its row stays, because leases refer to it, and lives again when it enrols again.
ALTER TABLE "instances" ADD COLUMN "enrolled_labels" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ADD COLUMN "removed_at" TIMESTAMPTZ(3);
UPDATE "instances" SET "enrolled_labels" = "labels", "created_at" = "enrolled_at";
