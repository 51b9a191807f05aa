-- When the instance told that nothing of a stopped run is left there, and all its output is stored.
ALTER TABLE "leases" ADD COLUMN "stopped_at" TIMESTAMPTZ(3);

-- When the start of the last attempt was recorded.
ALTER TABLE "steps" ADD COLUMN "attempt_started_at" TIMESTAMPTZ(3);
