-- AlterTable
ALTER TABLE "run_progress" ADD COLUMN     "finished_at" TIMESTAMPTZ(3);
