-- AlterTable
ALTER TABLE "target_facts" ADD COLUMN     "missed_by" UUID,
ADD COLUMN     "next_probe_at" TIMESTAMPTZ(3),
ADD COLUMN     "probe_by" UUID,
ADD COLUMN     "told_status" TEXT;
