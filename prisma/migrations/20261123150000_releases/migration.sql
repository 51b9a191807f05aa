-- What is where. A release is the part of a deployment on one target, from the start of its first command.
CREATE TYPE "release_state" AS ENUM ('running', 'applied', 'failed', 'cancelled', 'rolling_back', 'rolled_back', 'rollback_failed');

CREATE TABLE "releases" (
    "deployment_id" UUID NOT NULL,
    "target_id" UUID NOT NULL,
    "tenant_id" UUID,
    "environment_id" UUID,
    "source_type" "source_kind" NOT NULL,
    "source_id" UUID NOT NULL,
    "source_name" TEXT NOT NULL,
    "source_version" TEXT NOT NULL,
    "values_hash" TEXT,
    "state" "release_state" NOT NULL,
    "triggered_by" TEXT,
    "begun_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "replaced_deployment_id" UUID,

    CONSTRAINT "releases_pkey" PRIMARY KEY ("deployment_id", "target_id")
);
CREATE INDEX "releases_target_id_source_id_begun_at_idx" ON "releases"("target_id", "source_id", "begun_at" DESC, "deployment_id" DESC);
CREATE INDEX "releases_applied" ON "releases"("target_id", "source_id", "ended_at" DESC, "deployment_id" DESC) WHERE "state" = 'applied';

CREATE TABLE "release_heads" (
    "target_id" UUID NOT NULL,
    "source_id" UUID NOT NULL,
    "current_deployment_id" UUID,
    "latest_deployment_id" UUID,

    CONSTRAINT "release_heads_pkey" PRIMARY KEY ("target_id", "source_id")
);
CREATE INDEX "release_heads_source_id_idx" ON "release_heads"("source_id");

ALTER TABLE "deployment_targets" ADD COLUMN "values_hash" TEXT;

ALTER TABLE "releases" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "releases" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE "release_heads" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- The policy of targets decides. A subquery, because a call of sees_target for each head takes seconds for 100,000 heads.
CREATE POLICY "tenant" ON "release_heads" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*' OR "target_id" IN (SELECT "id" FROM "targets"));

-- Writes the releases of these parts of deployments from their steps, and the heads from the releases. The state of a release
-- that has begun depends on nothing but the present steps, and the heads on nothing but the present releases: no order of
-- messages, retry or repetition leads to another result.
CREATE FUNCTION "write_releases"("deployments_of_parts" uuid[], "targets_of_parts" uuid[]) RETURNS void LANGUAGE plpgsql
  SET search_path = public, pg_temp
AS $$
BEGIN
  -- Lock the heads first, always in this order, so that transactions for the same target cannot deadlock, and each sees the
  -- releases of the one before.
  INSERT INTO release_heads (target_id, source_id)
  SELECT DISTINCT p.target_id, d.source_id
    FROM unnest(deployments_of_parts, targets_of_parts) AS p (deployment_id, target_id)
    JOIN deployments d ON d.id = p.deployment_id
   WHERE NOT EXISTS (SELECT FROM release_heads h WHERE h.target_id = p.target_id AND h.source_id = d.source_id)
   ORDER BY 1, 2
  ON CONFLICT DO NOTHING;
  PERFORM FROM release_heads h
    JOIN (SELECT DISTINCT p.target_id, d.source_id
            FROM unnest(deployments_of_parts, targets_of_parts) AS p (deployment_id, target_id)
            JOIN deployments d ON d.id = p.deployment_id) pair USING (target_id, source_id)
   ORDER BY h.target_id, h.source_id FOR UPDATE OF h;

  INSERT INTO releases AS r (deployment_id, target_id, tenant_id, environment_id, source_type, source_id, source_name,
      source_version, values_hash, state, triggered_by, begun_at, ended_at, replaced_deployment_id)
  SELECT d.id, p.target_id, d.tenant_id, d.environment_id, d.source_type, d.source_id, d.source_name, d.source_version,
         t.values_hash, now_is.state, d.triggered_by, coalesce(s.begun_at, clock_timestamp()),
         CASE WHEN now_is.state = 'applied' THEN s.last_end
              WHEN now_is.state NOT IN ('running', 'rolling_back') THEN clock_timestamp() END,
         h.current_deployment_id
    FROM unnest(deployments_of_parts, targets_of_parts) AS p (deployment_id, target_id)
    JOIN deployments d ON d.id = p.deployment_id
    JOIN deployment_targets t ON t.deployment_id = p.deployment_id AND t.target_id = p.target_id
    JOIN release_heads h ON h.target_id = p.target_id AND h.source_id = d.source_id
   CROSS JOIN LATERAL (
     SELECT min(s.started_at) AS begun_at, max(s.completed_at) AS last_end,
            bool_or(s.state NOT IN ('pending', 'skipped') AND (s.state <> 'cancelled' OR s.started_at IS NOT NULL)) AS has_begun,
            bool_or(s.state = 'running' OR (s.state = 'pending' AND d.completed_at IS NULL)) AS is_open,
            bool_or(s.state = 'rolling_back') AS is_rolling_back,
            bool_or(s.state IN ('rolled_back', 'rollback_failed')) AS has_rolled_back,
            bool_or(s.state = 'rollback_failed') AS failed_to_roll_back,
            bool_or(s.state = 'failed') AS has_failed,
            bool_or(s.state = 'cancelled') AS was_cancelled,
            bool_and(s.state IN ('completed', 'failed')) AS all_executed
       FROM steps s WHERE s.deployment_id = p.deployment_id AND s.target_index = t.target_index) s
   CROSS JOIN LATERAL (
     SELECT (CASE
       WHEN s.is_rolling_back THEN 'rolling_back'
       WHEN s.has_rolled_back AND d.completed_at IS NULL AND EXISTS (
         SELECT FROM steps s JOIN deployment_actions a ON a.deployment_id = s.deployment_id AND a.action_index = s.action_index
          WHERE s.deployment_id = p.deployment_id AND s.target_index = t.target_index
            AND s.state IN ('completed', 'failed') AND a.has_rollback) THEN 'rolling_back'
       WHEN s.failed_to_roll_back THEN 'rollback_failed'
       WHEN s.has_rolled_back THEN 'rolled_back'
       WHEN s.is_open THEN 'running'
       WHEN s.all_executed AND (NOT s.has_failed OR d.plan_head #>> '{options,failure_strategy}' = 'ignore_failures') THEN 'applied'
       WHEN s.was_cancelled OR d.state = 'cancelled' THEN 'cancelled'
       ELSE 'failed' END)::release_state AS state) now_is
   -- What has begun stays begun: a lost attempt leaves a pending step without a time of its start.
   WHERE s.has_begun OR EXISTS (SELECT FROM releases b WHERE b.deployment_id = d.id AND b.target_id = p.target_id)
  ON CONFLICT (deployment_id, target_id) DO UPDATE SET state = EXCLUDED.state, ended_at = EXCLUDED.ended_at
   WHERE r.state <> EXCLUDED.state;

  UPDATE release_heads h SET current_deployment_id = head.current_id, latest_deployment_id = head.latest_id
    FROM (SELECT DISTINCT p.target_id, d.source_id
            FROM unnest(deployments_of_parts, targets_of_parts) AS p (deployment_id, target_id)
            JOIN deployments d ON d.id = p.deployment_id) pair
   CROSS JOIN LATERAL (SELECT
     (SELECT r.deployment_id FROM releases r
       WHERE r.target_id = pair.target_id AND r.source_id = pair.source_id AND r.state = 'applied'
       ORDER BY r.ended_at DESC, r.deployment_id DESC LIMIT 1) AS current_id,
     (SELECT r.deployment_id FROM releases r WHERE r.target_id = pair.target_id AND r.source_id = pair.source_id
       ORDER BY r.begun_at DESC, r.deployment_id DESC LIMIT 1) AS latest_id) head
   WHERE h.target_id = pair.target_id AND h.source_id = pair.source_id
     AND (h.current_deployment_id IS DISTINCT FROM head.current_id OR h.latest_deployment_id IS DISTINCT FROM head.latest_id);
END $$;

-- Triggers, because the executor-bridge moves steps and the dispatcher closes them: whoever changes a step, the release
-- changes in the same transaction, also while the release before still runs.
CREATE FUNCTION "release_moved_steps"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  deployments uuid[];
  targets uuid[];
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
  IF deployments IS NOT NULL THEN
    PERFORM write_releases(deployments, targets);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "releases" AFTER UPDATE ON "steps" REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION "release_moved_steps"();

-- A deployment that ends between two commands of a target, or between two of its rollbacks, changes no step there.
CREATE FUNCTION "release_ended_deployments"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  deployments uuid[];
  targets uuid[];
BEGIN
  SELECT array_agg(r.deployment_id), array_agg(r.target_id) INTO deployments, targets
    FROM changed d JOIN releases r ON r.deployment_id = d.id
   WHERE d.completed_at IS NOT NULL AND r.state IN ('running', 'rolling_back');
  IF deployments IS NOT NULL THEN
    PERFORM write_releases(deployments, targets);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "releases" AFTER UPDATE ON "deployments" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "release_ended_deployments"();

-- Counts in the deployments that are there. The locks of the triggers keep writers out until this transaction ends.
DO $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  PERFORM write_releases(array_agg(t.deployment_id), array_agg(t.target_id)) FROM deployment_targets t HAVING count(*) > 0;
  DELETE FROM release_heads WHERE latest_deployment_id IS NULL;
  UPDATE releases r SET replaced_deployment_id = (
    SELECT b.deployment_id FROM releases b
     WHERE b.target_id = r.target_id AND b.source_id = r.source_id AND b.state = 'applied' AND b.ended_at <= r.begun_at
       AND b.deployment_id <> r.deployment_id
     ORDER BY b.ended_at DESC, b.deployment_id DESC LIMIT 1);
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;
