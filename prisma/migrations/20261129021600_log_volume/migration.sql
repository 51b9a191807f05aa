-- The bytes of the log of a run, in all and of one day, against the limits of the log volume.
ALTER TABLE "run_progress" ADD COLUMN     "line_offset" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "log_bytes" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "log_day" DATE,
ADD COLUMN     "log_day_bytes" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "dropping" TEXT;

ALTER TABLE "steps" ADD COLUMN     "dropped_lines" INTEGER;

CREATE INDEX "run_progress_log_day_tenant_id_idx" ON "run_progress"("log_day", "tenant_id");
