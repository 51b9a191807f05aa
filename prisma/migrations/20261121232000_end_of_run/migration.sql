-- What the run came to, for a dispatcher that was never told: the broker may lose what it has confirmed.
ALTER TABLE "run_progress" ADD COLUMN "finished_outcome" TEXT, ADD COLUMN "finished_error" TEXT;
