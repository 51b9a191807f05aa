-- Makes the log partition of one day (UTC), so that one failing day does not stop others. Once log_chunks_default holds rows of a
-- day, CREATE TABLE … PARTITION OF fails for that day. This function moves such rows into the new partition first.
--
-- Writers and readers of log_chunks wait while rows move (54 MiB took 2.3 s on two busy cores), so a day with more than 10,000 rows or 64 MiB stays in
-- log_chunks_default ('left'). Its lines are complete there, and retention deletes them from there.
--
-- For a day ahead the new table is attached, because ATTACH PARTITION lets writers of other partitions go on. CREATE TABLE …
-- PARTITION OF would block every reader and writer of log_chunks. A lock that is not free within one second fails the call; the
-- caller tries again later.
--
-- Result: 'exists'; 'created'; 'moved' (created, with rows from log_chunks_default); 'left'; 'busy' (another process is at work).
CREATE FUNCTION "ensure_log_partition"("day" date) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
  SET lock_timeout = '1s'
AS $$
DECLARE
  partition text := 'log_chunks_' || to_char("day", 'YYYYMMDD');
  first timestamptz := "day"::timestamp AT TIME ZONE 'UTC';
  next timestamptz := ("day" + 1)::timestamp AT TIME ZONE 'UTC';
  waiting bigint;
  bytes bigint;
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  IF "day" > (now() AT TIME ZONE 'UTC')::date + 31 THEN
    RAISE EXCEPTION 'ensure_log_partition: % is more than 31 days ahead; ask for an earlier day', "day"
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('slipway.log_partitions')) THEN
    RETURN 'busy';
  END IF;
  IF EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
              WHERE i.inhparent = 'log_chunks'::regclass AND c.relname = partition) THEN
    RETURN 'exists';
  END IF;

  -- The rows of every tenant move. A failure undoes this setting, too.
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT count(*), coalesce(sum(pg_column_size(lines)), 0) INTO waiting, bytes
    FROM log_chunks_default WHERE created_at >= first AND created_at < next;
  IF waiting > 10000 OR bytes > 64 * 1024 * 1024 THEN
    PERFORM set_config('slipway.tenant', tenant, true);
    RETURN 'left';
  END IF;

  EXECUTE format('CREATE TABLE %I (LIKE log_chunks INCLUDING ALL)', partition);
  -- With this constraint, ATTACH PARTITION does not read the new table again.
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT one_day CHECK (created_at >= %L AND created_at < %L)', partition, first, next);
  -- The table before its partition: dropping a partition locks in this order, too.
  IF "day" > (now() AT TIME ZONE 'UTC')::date AND waiting = 0 THEN
    LOCK TABLE ONLY log_chunks IN SHARE UPDATE EXCLUSIVE MODE;
  ELSE
    -- A writer that waits for log_chunks_default itself fails when its row belongs into the new partition. This lock makes such
    -- writers wait before they choose a partition.
    LOCK TABLE ONLY log_chunks IN ACCESS EXCLUSIVE MODE;
  END IF;
  LOCK TABLE log_chunks_default IN ACCESS EXCLUSIVE MODE;
  EXECUTE format('INSERT INTO %I SELECT * FROM log_chunks_default WHERE created_at >= %L AND created_at < %L', partition, first, next);
  GET DIAGNOSTICS waiting = ROW_COUNT;
  DELETE FROM log_chunks_default WHERE created_at >= first AND created_at < next;
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
  EXECUTE format($policy$CREATE POLICY "everything" ON %I USING ((SELECT current_setting('slipway.tenant', true)) = '*')$policy$, partition);
  EXECUTE format('ALTER TABLE log_chunks ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition, first, next);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT one_day', partition);
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN CASE WHEN waiting > 0 THEN 'moved' ELSE 'created' END;
END $$;

-- The release before calls this. A day that fails leaves a warning and does not stop the days after it.
CREATE OR REPLACE FUNCTION "ensure_log_partitions"("days_ahead" integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  n integer;
BEGIN
  FOR n IN 0 .. "days_ahead" LOOP
    BEGIN
      PERFORM ensure_log_partition(today + n);
    EXCEPTION WHEN OTHERS THEN
      RAISE WARNING 'ensure_log_partitions: no partition for %: %', today + n, SQLERRM;
    END;
  END LOOP;
END $$;
