-- A dump reads each partition by itself. Without a policy nobody sees one directly, and a dump by the owner left out all log
-- lines and did not say so. Whoever may see everything sees them now; by the table itself its policy holds, as before.
DO $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'log_chunks'::regclass LOOP
    EXECUTE format($policy$CREATE POLICY "everything" ON %s USING ((SELECT current_setting('slipway.tenant', true)) = '*')$policy$, partition);
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION "ensure_log_partitions"("days_ahead" integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  day date;
  partition text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('slipway.log_partitions'));
  FOR day IN SELECT generate_series((now() AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date + "days_ahead", '1 day')::date LOOP
    partition := 'log_chunks_' || to_char(day, 'YYYYMMDD');
    CONTINUE WHEN to_regclass(format('%I', partition)) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I PARTITION OF log_chunks FOR VALUES FROM (%L) TO (%L)',
      partition, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
    EXECUTE format($policy$CREATE POLICY "everything" ON %I USING ((SELECT current_setting('slipway.tenant', true)) = '*')$policy$, partition);
  END LOOP;
END $$;
