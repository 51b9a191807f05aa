-- The labels that an instance needs to run deployments of a record; empty for any instance.
ALTER TABLE "targets" ADD COLUMN "instance_selector" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "environments" ADD COLUMN "instance_selector" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "tenants" ADD COLUMN "instance_selector" JSONB NOT NULL DEFAULT '{}';

-- The pool of a pending request: the selector of its plan, and its hash. Null for any instance.
ALTER TABLE "pending_requests" ADD COLUMN "instance_selector" JSONB, ADD COLUMN "pool_key" UUID;
-- Empty while no record has a selector.
CREATE INDEX "pending_requests_by_pool" ON "pending_requests" ("pool_key", "rank", "id")
  WHERE "status" = 'pending' AND "pool_key" IS NOT NULL;

-- The key of the subject covers the pool, so that the first requests of each pool are found by the same index. Without a selector
-- it is the key of before.
CREATE OR REPLACE FUNCTION "set_freeze_subject"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.freeze_subject := freeze_subject_of(NEW.tenant_id, NEW.environment_id, NEW.command);
    NEW.instance_selector := NEW.command #> '{plan,instance_selector}';
    NEW.pool_key := md5(NEW.instance_selector::text)::uuid;
  END IF;
  NEW.freeze_key := md5(NEW.freeze_subject::text || coalesce(NEW.instance_selector::text, ''))::uuid;
  RETURN NEW;
END $$;

-- The place of each pending request in the whole queue, and among the requests of its pool.
CREATE FUNCTION "waiting_places"() RETURNS TABLE ("id" uuid, "position" bigint, "pool_position" bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  RETURN QUERY
    SELECT numbered.id, numbered.place, pooled.place
      FROM (SELECT r.id, row_number() OVER (ORDER BY r.rank, r.id) AS place
              FROM pending_requests r WHERE r.status = 'pending') numbered
      LEFT JOIN (SELECT r.id, row_number() OVER (PARTITION BY r.pool_key ORDER BY r.rank, r.id) AS place
                   FROM pending_requests r WHERE r.status = 'pending' AND r.pool_key IS NOT NULL) pooled USING (id);
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;

-- The place of one request in its pool, without numbering the others.
CREATE FUNCTION "waiting_pool_position"("of_pool" uuid, "of_rank" bigint, "of_id" uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  place bigint;
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT count(*) INTO place FROM pending_requests r
   WHERE r.status = 'pending' AND r.pool_key = of_pool AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id));
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN place;
END $$;

-- The rule of packages/domain/src/instance-selector.ts, for statements that read many targets.
CREATE FUNCTION "matches_labels"("selector" jsonb, "labels" jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT labels @> coalesce(selector -> 'match_labels', '{}')
     AND NOT EXISTS (
       SELECT FROM jsonb_array_elements(coalesce(selector -> 'match_expressions', '[]')) AS e
        WHERE NOT CASE e ->> 'operator'
                    WHEN 'In' THEN coalesce(e -> 'values' ? (labels ->> (e ->> 'key')), false)
                    WHEN 'NotIn' THEN NOT coalesce(e -> 'values' ? (labels ->> (e ->> 'key')), false)
                    WHEN 'Exists' THEN labels ? (e ->> 'key')
                    WHEN 'DoesNotExist' THEN NOT labels ? (e ->> 'key')
                  END)
$$;
