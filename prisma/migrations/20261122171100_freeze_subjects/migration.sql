-- What freezes judge a waiting request by, apart from its command: that holds the whole plan, and while a freeze was in force
-- the plan of every waiting request was read again and again.
ALTER TABLE "pending_requests" ADD COLUMN "freeze_subject" JSONB;
-- A hash of the subject: requests with the same subject are judged once and found by it. Not a generated column, for which
-- Postgres would write the whole table anew.
ALTER TABLE "pending_requests" ADD COLUMN "freeze_key" UUID;

-- The tenants and environments to which the targets belong are those of this moment.
CREATE FUNCTION "freeze_subject_of"("of_tenant" uuid, "of_environment" uuid, "command" jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'tenant_id', of_tenant,
    'environment_id', of_environment,
    'solution_id', CASE WHEN command #>> '{plan,source,type}' = 'solution' THEN command #> '{plan,source,id}' END,
    'caller', jsonb_build_object('roles', coalesce(command #> '{caller,roles}', '[]'), 'tenant_id', command #> '{caller,tenant_id}'),
    'override', coalesce(command -> 'freeze_override', 'null') <> 'null',
    'targets', (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('tenant_id', t.tenant_id, 'environment_id', t.environment_id)), '[]')
                  FROM targets t
                 WHERE t.id IN (SELECT (target ->> 'id')::uuid
                                  FROM jsonb_array_elements(CASE jsonb_typeof(command #> '{plan,targets}')
                                                              WHEN 'array' THEN command #> '{plan,targets}' END) AS target)))
$$;

-- A trigger, not the dispatcher, fills the column: dispatchers of the release before queue requests, too.
CREATE FUNCTION "set_freeze_subject"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.freeze_subject := freeze_subject_of(NEW.tenant_id, NEW.environment_id, NEW.command);
  END IF;
  NEW.freeze_key := md5(NEW.freeze_subject::text)::uuid;
  RETURN NEW;
END $$;
CREATE TRIGGER "freeze_subject" BEFORE INSERT OR UPDATE OF "freeze_subject" ON "pending_requests"
  FOR EACH ROW EXECUTE FUNCTION "set_freeze_subject"();

UPDATE "pending_requests" SET "freeze_subject" = freeze_subject_of("tenant_id", "environment_id", "command")
 WHERE "status" IN ('pending', 'processing');

-- The first requests of each subject, in the order of the queue.
CREATE INDEX "pending_requests_by_subject" ON "pending_requests" ("freeze_key", "rank", "id") WHERE "status" = 'pending';
