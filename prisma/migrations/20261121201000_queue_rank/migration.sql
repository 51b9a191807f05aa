-- CreateTable
CREATE TABLE "queue_settings" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "ageing_seconds" INTEGER,
    "tenant_running_limit" INTEGER,

    CONSTRAINT "queue_settings_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "queue_settings" ADD CONSTRAINT "queue_settings_one" CHECK ("id" = 1);
INSERT INTO "queue_settings" DEFAULT VALUES;

-- AlterTable
ALTER TABLE "pending_requests" ADD COLUMN "rank" BIGINT NOT NULL DEFAULT 0;

-- When a request is due, in milliseconds: its age, and so much earlier for each point of priority. Without ageing a point
-- is worth a hundred years, so that age decides among equals alone. One number, which an index can follow.
CREATE FUNCTION "queue_rank"("priority" integer, "queued_at" timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  seconds bigint := coalesce((SELECT ageing_seconds FROM queue_settings), 3153600000);
BEGIN
  RETURN floor(extract(epoch FROM queued_at) * 1000)::bigint - priority * seconds * 1000;
END $$;

CREATE FUNCTION "rank_pending_request"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.rank := queue_rank(NEW.priority, NEW.queued_at);
  RETURN NEW;
END $$;
CREATE TRIGGER "rank" BEFORE INSERT OR UPDATE OF "priority", "queued_at" ON "pending_requests"
  FOR EACH ROW EXECUTE FUNCTION "rank_pending_request"();
UPDATE "pending_requests" SET "rank" = queue_rank("priority", "queued_at");

DROP INDEX "pending_requests_queue";
CREATE INDEX "pending_requests_queue" ON "pending_requests" ("rank", "id") INCLUDE ("tenant_id") WHERE "status" = 'pending';
-- How many of a tenant's deployments run.
CREATE INDEX "deployments_running_by_tenant" ON "deployments" ("tenant_id") WHERE "completed_at" IS NULL;

CREATE OR REPLACE FUNCTION "waiting_positions"() RETURNS TABLE ("id" uuid, "position" bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  RETURN QUERY SELECT r.id, row_number() OVER (ORDER BY r.rank, r.id)
    FROM pending_requests r WHERE r.status = 'pending';
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;

-- The place of one: without numbering all the others.
CREATE FUNCTION "waiting_position"("of_rank" bigint, "of_id" uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  place bigint;
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT count(*) INTO place FROM pending_requests r
   WHERE r.status = 'pending' AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id));
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN place;
END $$;
