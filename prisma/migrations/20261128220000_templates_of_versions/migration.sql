-- Where values are inserted into the scripts of a version of an action. The gateway finds these places when the version is
-- published, so that instances parse nothing.
ALTER TABLE "source_versions" ADD COLUMN "templates" JSONB;
