-- Whether a slot that was just locked may be leased. Volatile, so that it sees what was committed since the statement that
-- calls it began: a lease may have come before the lock did, or an order to drain.
CREATE FUNCTION slot_is_free(of_instance uuid, place integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM leases l WHERE l.instance_id = of_instance AND l.slot = place AND l.ended_at IS NULL)
    AND NOT EXISTS (SELECT FROM instances i WHERE i.id = of_instance AND i.draining);
END $$;
