-- Requests without a selector are a pool, too: without this, requests of a pool that has no instance would count as waiting before them.
CREATE OR REPLACE FUNCTION "waiting_places"() RETURNS TABLE ("id" uuid, "position" bigint, "pool_position" bigint) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  RETURN QUERY
    SELECT r.id, row_number() OVER w,
           coalesce(pooled.place, row_number() OVER w - count(pooled.place) OVER w)
      FROM pending_requests r
      LEFT JOIN (SELECT p.id, row_number() OVER (PARTITION BY p.pool_key ORDER BY p.rank, p.id) AS place
                   FROM pending_requests p WHERE p.status = 'pending' AND p.pool_key IS NOT NULL) pooled ON pooled.id = r.id
     WHERE r.status = 'pending'
    WINDOW w AS (ORDER BY r.rank, r.id);
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;

CREATE OR REPLACE FUNCTION "waiting_pool_position"("of_pool" uuid, "of_rank" bigint, "of_id" uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  place bigint;
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  IF of_pool IS NULL THEN
    SELECT (SELECT count(*) FROM pending_requests r
             WHERE r.status = 'pending' AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id)))
         - (SELECT count(*) FROM pending_requests r
             WHERE r.status = 'pending' AND r.pool_key IS NOT NULL
               AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id)))
      INTO place;
  ELSE
    SELECT count(*) INTO place FROM pending_requests r
     WHERE r.status = 'pending' AND r.pool_key = of_pool AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id));
  END IF;
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN place;
END $$;
