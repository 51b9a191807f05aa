-- Whether the run has reported, under any epoch, that it rolls back: then it can no longer end with success. The state of
-- the deployment follows later, by a message.
ALTER TABLE "run_progress" ADD COLUMN "rolling_back" BOOLEAN NOT NULL DEFAULT false;
