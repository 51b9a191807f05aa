-- One deployment at a time on a target whose policy is not `allow` (docs/decisions/0063-one-deployment-per-target.md).
CREATE TABLE "target_locks" (
    "target_id" UUID NOT NULL,
    "deployment_id" UUID NOT NULL,
    "target_index" INTEGER NOT NULL,
    "epoch" BIGINT NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "target_locks_pkey" PRIMARY KEY ("target_id")
);
CREATE INDEX "target_locks_of_deployment" ON "target_locks" ("deployment_id", "target_index");

-- The targets with a policy that pending requests need.
CREATE TABLE "pending_targets" (
    "request_id" UUID NOT NULL,
    "target_id" UUID NOT NULL,
    "rank" BIGINT NOT NULL,

    CONSTRAINT "pending_targets_pkey" PRIMARY KEY ("request_id", "target_id")
);
CREATE INDEX "pending_targets_queue" ON "pending_targets" ("target_id", "rank", "request_id");

ALTER TABLE "pending_requests" ADD COLUMN "wants_targets" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "pending_requests" ADD COLUMN "superseded_by" UUID;
-- Requests that need no lock: ten thousand that wait for a target do not hide them.
CREATE INDEX "pending_requests_without_locks" ON "pending_requests" ("rank", "id") WHERE "status" = 'pending' AND NOT "wants_targets";

ALTER TABLE "target_locks" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "target_locks" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*' OR "target_id" IN (SELECT "id" FROM "targets"));
ALTER TABLE "pending_targets" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "pending_targets" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*' OR "target_id" IN (SELECT "id" FROM "targets"));

-- Whether a lock holds. Its lease is live; or its deployment waits for another instance, which goes on where the lost one stopped;
-- or its deployment was stopped, and the instance has not told yet that the command on the target is gone. An instance that is cut
-- off kills its commands within 30 seconds. VOLATILE: whoever has waited for a lock sees the lease of the one who took it.
CREATE FUNCTION "target_lock_holds"("of_epoch" bigint, "of_deployment" uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM leases l
     WHERE l.epoch = of_epoch AND (
       l.ended_at IS NULL
       OR (l.end_reason = 'lost'
           AND NOT EXISTS (SELECT FROM deployments d WHERE d.id = of_deployment AND d.completed_at IS NOT NULL))
       OR (l.end_reason IN ('cancelled', 'overdue') AND l.stopped_at IS NULL AND l.ended_at > now() - interval '30 seconds')));
END $$;

-- The rows follow their request: they go when it no longer waits, and take over its rank.
CREATE FUNCTION "follow_pending_request"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM pending_targets WHERE request_id = OLD.id;
  ELSIF NEW.status <> 'pending' THEN
    DELETE FROM pending_targets WHERE request_id = NEW.id;
  ELSE
    UPDATE pending_targets SET rank = NEW.rank WHERE request_id = NEW.id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "wanted_targets" AFTER UPDATE ON "pending_requests" FOR EACH ROW
  WHEN (OLD."wants_targets" AND (NEW."status" <> 'pending' OR NEW."rank" <> OLD."rank"))
  EXECUTE FUNCTION "follow_pending_request"();
CREATE TRIGGER "wanted_targets_of_deleted" AFTER DELETE ON "pending_requests" FOR EACH ROW
  WHEN (OLD."wants_targets") EXECUTE FUNCTION "follow_pending_request"();

-- Wakes the dispatcher if a request waits for one of these targets. The message is one that the release before reads, too.
CREATE FUNCTION "tell_freed_targets"("freed" uuid[], "epochs" bigint[]) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
  INSERT INTO outbox (message_id, exchange, type, body)
  SELECT gen_random_uuid(), 'events', 'slot.freed', jsonb_build_object('instance_id', l.instance_id)
    FROM leases l
   WHERE l.epoch = ANY (epochs) AND EXISTS (SELECT FROM pending_targets w WHERE w.target_id = ANY (freed))
$$;

-- Releases the lock of a target as soon as the part of its deployment is over: all its steps have ended, and no rollback can
-- reach it any more. Only targets with an executed step that has a rollback script are rolled back, by the strategy
-- `failed_target_only` only those with a failed step. Whether a rollback comes is known at the end of the deployment.
CREATE FUNCTION "release_locks_of_parts"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  freed uuid[];
  epochs bigint[];
BEGIN
  IF NOT EXISTS (SELECT FROM target_locks k
                  WHERE k.deployment_id IN (SELECT DISTINCT m.deployment_id FROM moved m)) THEN
    RETURN NULL;
  END IF;
  WITH over AS (
    SELECT k.target_id
      FROM (SELECT DISTINCT m.deployment_id, m.target_index FROM moved m
             WHERE m.state NOT IN ('pending', 'running', 'rolling_back')) part
      JOIN deployments d ON d.id = part.deployment_id AND d.completed_at IS NULL
      JOIN target_locks k ON k.deployment_id = part.deployment_id AND k.target_index = part.target_index
     CROSS JOIN LATERAL (
       SELECT bool_or(s.state IN ('pending', 'running', 'rolling_back')) AS is_open,
              bool_or(s.state IN ('failed', 'rolled_back', 'rollback_failed')) AS has_failed,
              bool_or(s.state IN ('completed', 'failed') AND a.has_rollback) AS has_undo
         FROM steps s JOIN deployment_actions a ON a.deployment_id = s.deployment_id AND a.action_index = s.action_index
        WHERE s.deployment_id = part.deployment_id AND s.target_index = part.target_index) s
     WHERE NOT s.is_open AND NOT (s.has_undo AND CASE d.plan_head #>> '{options,rollback_strategy}'
             WHEN 'none' THEN false WHEN 'failed_target_only' THEN s.has_failed ELSE true END)
  ), released AS (
    DELETE FROM target_locks k USING over WHERE k.target_id = over.target_id RETURNING k.target_id, k.epoch
  )
  SELECT array_agg(target_id), array_agg(DISTINCT epoch) INTO freed, epochs FROM released;
  IF freed IS NOT NULL THEN
    PERFORM tell_freed_targets(freed, epochs);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "target_locks" AFTER UPDATE ON "steps" REFERENCING NEW TABLE AS moved
  FOR EACH STATEMENT EXECUTE FUNCTION "release_locks_of_parts"();

-- All locks end with their deployment. Where it was stopped while a command ran on the target, the lock stays until the instance
-- has told that the command is gone. Who ends the deployment also tells of its slot.
CREATE FUNCTION "release_locks_of_ended"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
BEGIN
  DELETE FROM target_locks k USING changed d
   WHERE k.deployment_id = d.id AND d.completed_at IS NOT NULL
     AND NOT EXISTS (
       SELECT FROM leases l
        WHERE l.epoch = k.epoch AND l.end_reason IN ('cancelled', 'overdue') AND l.stopped_at IS NULL
          AND EXISTS (SELECT FROM steps s WHERE s.deployment_id = k.deployment_id AND s.target_index = k.target_index
                         AND s.state IN ('running', 'rolling_back')));
  RETURN NULL;
END $$;
CREATE TRIGGER "target_locks" AFTER UPDATE ON "deployments" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "release_locks_of_ended"();
