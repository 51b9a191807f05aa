-- The lock of a target is one row that is updated in place, without an index entry to write or to leave behind
-- (docs/decisions/0063-one-deployment-per-target.md). Who holds nothing has no deployment.
ALTER TABLE "deployments" ADD COLUMN "locks_targets" BOOLEAN NOT NULL DEFAULT false;
UPDATE "deployments" SET "locks_targets" = true WHERE "id" IN (SELECT "deployment_id" FROM "target_locks");

DROP INDEX "target_locks_of_deployment";
ALTER TABLE "target_locks"
  ALTER COLUMN "target_index" DROP NOT NULL,
  ALTER COLUMN "deployment_id" DROP NOT NULL,
  ALTER COLUMN "epoch" DROP NOT NULL,
  -- Room on each page for the next version of its rows.
  SET (fillfactor = 50);

CREATE FUNCTION "drop_locks_of_deleted"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  DELETE FROM target_locks k USING gone WHERE k.target_id = gone.id;
  RETURN NULL;
END $$;
CREATE TRIGGER "locks_of_deleted" AFTER DELETE ON "targets" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION "drop_locks_of_deleted"();

CREATE OR REPLACE FUNCTION "release_locks_of_parts"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  freed uuid[];
  epochs bigint[];
BEGIN
  IF NOT EXISTS (SELECT FROM deployments d WHERE d.locks_targets
                    AND d.id IN (SELECT DISTINCT m.deployment_id FROM moved m)) THEN
    RETURN NULL;
  END IF;
  WITH over AS (
    SELECT k.target_id, k.deployment_id, k.epoch
      FROM (SELECT DISTINCT m.deployment_id, m.target_index FROM moved m
             WHERE m.state NOT IN ('pending', 'running', 'rolling_back')) part
      JOIN deployments d ON d.id = part.deployment_id AND d.completed_at IS NULL AND d.locks_targets
      JOIN deployment_targets p ON p.deployment_id = part.deployment_id AND p.target_index = part.target_index
      JOIN target_locks k ON k.target_id = p.target_id AND k.deployment_id = part.deployment_id
     CROSS JOIN LATERAL (
       SELECT bool_or(s.state IN ('pending', 'running', 'rolling_back')) AS is_open,
              bool_or(s.state IN ('failed', 'rolled_back', 'rollback_failed')) AS has_failed,
              bool_or(s.state IN ('completed', 'failed') AND a.has_rollback) AS has_undo
         FROM steps s JOIN deployment_actions a ON a.deployment_id = s.deployment_id AND a.action_index = s.action_index
        WHERE s.deployment_id = part.deployment_id AND s.target_index = part.target_index) s
     WHERE NOT s.is_open AND NOT (s.has_undo AND CASE d.plan_head #>> '{options,rollback_strategy}'
             WHEN 'none' THEN false WHEN 'failed_target_only' THEN s.has_failed ELSE true END)
  ), released AS (
    UPDATE target_locks k SET deployment_id = NULL, epoch = NULL FROM over
     WHERE k.target_id = over.target_id AND k.deployment_id = over.deployment_id RETURNING k.target_id, over.epoch
  )
  SELECT array_agg(target_id), array_agg(DISTINCT epoch) INTO freed, epochs FROM released;
  IF freed IS NOT NULL THEN
    PERFORM tell_freed_targets(freed, epochs);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "release_locks_of_ended"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  UPDATE target_locks k SET deployment_id = NULL, epoch = NULL
    FROM changed d JOIN deployment_targets p ON p.deployment_id = d.id
   WHERE d.completed_at IS NOT NULL AND d.locks_targets AND k.target_id = p.target_id AND k.deployment_id = d.id
     AND NOT EXISTS (
       SELECT FROM leases l
        WHERE l.epoch = k.epoch AND l.end_reason IN ('cancelled', 'overdue') AND l.stopped_at IS NULL
          AND EXISTS (SELECT FROM steps s WHERE s.deployment_id = k.deployment_id AND s.target_index = p.target_index
                         AND s.state IN ('running', 'rolling_back')));
  RETURN NULL;
END $$;
