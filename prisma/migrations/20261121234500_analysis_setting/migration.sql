-- Whether failures in deployments that start from now on are explained.
ALTER TABLE "queue_settings" ADD COLUMN "analysis_enabled" BOOLEAN NOT NULL DEFAULT true;
