-- How many attempts in a row timed out. After some of them a webhook gets one attempt at a time.
ALTER TABLE "webhooks" ADD COLUMN "consecutive_timeouts" INTEGER NOT NULL DEFAULT 0;
