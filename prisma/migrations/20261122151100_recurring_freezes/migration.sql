-- When the last window of a recurring freeze has ended; null: never, or not known. What has ended is not read any more, so a
-- tenant cannot slow every evaluation down with old freezes.
ALTER TABLE "freezes" ADD COLUMN "recurs_until" TIMESTAMPTZ(3);
CREATE INDEX "freezes_recurring" ON "freezes" ("recurs_until") WHERE "recurrence" IS NOT NULL;

-- The release before changes times without this column: then the old value must not end the freeze too early.
CREATE FUNCTION "forget_recurs_until"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.recurs_until IS NOT DISTINCT FROM OLD.recurs_until THEN
    NEW.recurs_until := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "recurs_until" BEFORE UPDATE OF "start_time", "end_time", "recurrence", "start_offset", "time_zone" ON "freezes"
  FOR EACH ROW EXECUTE FUNCTION "forget_recurs_until"();

-- Another value after each change of a freeze: a process reads all freezes again only when this value has changed.
-- A transaction that changes freezes holds this row until its end, so such transactions run one after another.
CREATE TABLE "freeze_version" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "version" UUID NOT NULL DEFAULT gen_random_uuid(),

    CONSTRAINT "freeze_version_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "freeze_version" ADD CONSTRAINT "freeze_version_one" CHECK ("id" = 1);
INSERT INTO "freeze_version" DEFAULT VALUES;

CREATE FUNCTION "change_freeze_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE freeze_version SET version = gen_random_uuid();
  RETURN NULL;
END $$;
CREATE TRIGGER "version" AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON "freezes"
  FOR EACH STATEMENT EXECUTE FUNCTION "change_freeze_version"();
