-- What the caller was warned of at the start.
ALTER TABLE "deployments" ADD COLUMN "warnings" JSONB NOT NULL DEFAULT '[]';
