-- Drift: whether what is in force on a target is still as its deployment left it.
ALTER TABLE "deployments" ADD COLUMN "is_check" BOOLEAN NOT NULL DEFAULT false;
-- There are few checks at a time, and lists leave them out by this index.
CREATE INDEX "deployments_checks" ON "deployments" ("id") WHERE "is_check";

CREATE TABLE "release_checks" (
    "target_id" UUID NOT NULL,
    "source_id" UUID NOT NULL,
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "deployment_id" UUID,
    "interval_seconds" INTEGER,
    "next_at" TIMESTAMPTZ(3),
    "requested" BOOLEAN NOT NULL DEFAULT false,
    "run_id" UUID,
    "result" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "message" TEXT,
    "drifted_since" TIMESTAMPTZ(3),
    "told_drifted" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "release_checks_pkey" PRIMARY KEY ("target_id", "source_id")
);
CREATE UNIQUE INDEX "release_checks_id_key" ON "release_checks" ("id");
CREATE INDEX "release_checks_deployment_id_idx" ON "release_checks" ("deployment_id");
CREATE INDEX "release_checks_due" ON "release_checks" ("next_at") WHERE "run_id" IS NULL AND "deployment_id" IS NOT NULL;
CREATE INDEX "release_checks_unscheduled" ON "release_checks" ("interval_seconds")
  WHERE "next_at" IS NULL AND "deployment_id" IS NOT NULL;
CREATE INDEX "release_checks_running" ON "release_checks" ("run_id") WHERE "run_id" IS NOT NULL;
CREATE INDEX "release_checks_untold" ON "release_checks" ("id") WHERE ("drifted_since" IS NOT NULL) <> "told_drifted";
ALTER TABLE "release_checks" ADD CONSTRAINT "release_checks_target_id_source_id_fkey" FOREIGN KEY ("target_id", "source_id")
  REFERENCES "release_heads" ("target_id", "source_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "release_checks" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- As for release_heads.
CREATE POLICY "tenant" ON "release_checks" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*' OR "target_id" IN (SELECT "id" FROM "targets"));

-- A check belongs to the deployment in force. Where another one is in force now, nothing is known any more, and a check that
-- still runs finds no row to write to.
CREATE FUNCTION "renew_release_checks"("targets_of_heads" uuid[], "sources_of_heads" uuid[]) RETURNS void LANGUAGE plpgsql
  SET search_path = public, pg_temp
AS $$
BEGIN
  WITH heads AS (
    SELECT h.target_id, h.source_id, h.current_deployment_id
      FROM unnest(targets_of_heads, sources_of_heads) AS p (target_id, source_id)
      JOIN release_heads h ON h.target_id = p.target_id AND h.source_id = p.source_id
  ), declared AS (
    SELECT d.id, (SELECT min((v.definition #>> '{check,interval_seconds}')::int)
                    FROM deployment_actions a JOIN source_versions v ON v.source_id = a.action_id AND v.version = a.action_version
                   WHERE a.deployment_id = d.id AND v.definition ? 'check') AS interval_seconds
      FROM (SELECT DISTINCT current_deployment_id AS id FROM heads) d
     WHERE EXISTS (SELECT FROM deployment_actions a
                     JOIN source_versions v ON v.source_id = a.action_id AND v.version = a.action_version
                    WHERE a.deployment_id = d.id AND v.definition ? 'check'))
  INSERT INTO release_checks AS c (target_id, source_id, deployment_id, interval_seconds)
  SELECT h.target_id, h.source_id, d.id, d.interval_seconds
    FROM heads h LEFT JOIN declared d ON d.id = h.current_deployment_id
   -- Most sources have no check, and no row.
   WHERE d.id IS NOT NULL
      OR EXISTS (SELECT FROM release_checks k WHERE k.target_id = h.target_id AND k.source_id = h.source_id)
   ORDER BY h.target_id, h.source_id
  ON CONFLICT (target_id, source_id) DO UPDATE SET deployment_id = EXCLUDED.deployment_id,
    interval_seconds = EXCLUDED.interval_seconds, next_at = NULL, requested = false, run_id = NULL, result = NULL,
    checked_at = NULL, message = NULL, drifted_since = NULL;
END $$;

CREATE FUNCTION "release_heads_moved"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  targets uuid[];
  sources uuid[];
BEGIN
  SELECT array_agg(n.target_id), array_agg(n.source_id) INTO targets, sources
    FROM moved n JOIN before o ON o.target_id = n.target_id AND o.source_id = n.source_id
   WHERE n.current_deployment_id IS DISTINCT FROM o.current_deployment_id;
  IF targets IS NOT NULL THEN
    PERFORM renew_release_checks(targets, sources);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "checks" AFTER UPDATE ON "release_heads" REFERENCING OLD TABLE AS before NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION "release_heads_moved"();

-- A check is no release.
CREATE OR REPLACE FUNCTION "release_moved_steps"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  deployments uuid[];
  targets uuid[];
  checks uuid[] := ARRAY(SELECT c.id FROM deployments c WHERE c.is_check);
BEGIN
  SELECT array_agg(deployment_id), array_agg(target_id) INTO deployments, targets FROM (
    SELECT DISTINCT m.deployment_id, t.target_id
      FROM moved m JOIN deployment_targets t ON t.deployment_id = m.deployment_id AND t.target_index = m.target_index
      LEFT JOIN releases r ON r.deployment_id = t.deployment_id AND r.target_id = t.target_id
     WHERE m.state <> 'pending' AND CASE
       WHEN m.state IN ('skipped', 'cancelled') THEN r.state IN ('running', 'rolling_back') OR m.started_at IS NOT NULL
       WHEN r.state IS NULL THEN true
       WHEN m.state = 'running' THEN r.state <> 'running'
       -- While another command follows on the target, nothing changes.
       WHEN m.state = 'completed' THEN r.state <> 'running' OR NOT EXISTS (
         SELECT FROM steps n WHERE n.deployment_id = m.deployment_id AND n.target_index = m.target_index
            AND n.action_index = m.action_index + 1 AND n.state IN ('pending', 'running'))
       ELSE true END) part;
  -- Not as a condition above: Postgres would plan to read all steps of the deployment.
  IF deployments IS NOT NULL AND cardinality(checks) > 0 THEN
    SELECT array_agg(p.deployment_id), array_agg(p.target_id) INTO deployments, targets
      FROM unnest(deployments, targets) AS p (deployment_id, target_id) WHERE p.deployment_id <> ALL (checks);
  END IF;
  IF deployments IS NOT NULL THEN
    PERFORM write_releases(deployments, targets);
  END IF;
  RETURN NULL;
END $$;

-- The counts of lists leave checks out, too.
CREATE OR REPLACE FUNCTION "count_deployments_added"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
  SELECT tenant_id, environment_id, source_type, state, count(*) FROM added WHERE NOT is_check GROUP BY 1, 2, 3, 4;
  -- Known names are not tried again, so that nobody waits for a writer of the same one.
  INSERT INTO deployment_names (tenant_id, source_name)
  SELECT DISTINCT tenant_id, source_name FROM added a
   WHERE NOT EXISTS (SELECT FROM deployment_names n
                      WHERE n.source_name = a.source_name AND n.tenant_id IS NOT DISTINCT FROM a.tenant_id)
   ORDER BY 2, 1
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION "count_deployments_changed"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
  SELECT tenant_id, environment_id, source_type, state, sum(n) FROM (
    SELECT tenant_id, environment_id, source_type, state, 1 AS n FROM added WHERE NOT is_check
    UNION ALL
    SELECT tenant_id, environment_id, source_type, state, -1 FROM removed WHERE NOT is_check) moved
  GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION "count_deployments_removed"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  INSERT INTO deployment_counts (tenant_id, environment_id, source_type, state, count)
  SELECT tenant_id, environment_id, source_type, state, -count(*) FROM removed WHERE NOT is_check GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END $$;
