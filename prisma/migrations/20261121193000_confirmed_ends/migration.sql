-- Whether a command that was killed with its deployment is known to have ended. Null where nothing was killed.
ALTER TABLE "steps" ADD COLUMN "end_confirmed" BOOLEAN;
