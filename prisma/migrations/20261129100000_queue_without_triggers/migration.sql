-- The dispatcher computes the rank and the group of a request, and keeps its wanted targets, in its statements.
DROP TRIGGER "rank" ON "pending_requests";
DROP TRIGGER "freeze_subject" ON "pending_requests";
DROP TRIGGER "wanted_targets" ON "pending_requests";
DROP TRIGGER "wanted_targets_of_deleted" ON "pending_requests";
DROP FUNCTION "rank_pending_request"();
DROP FUNCTION "set_freeze_subject"();
DROP FUNCTION "follow_pending_request"();
DROP FUNCTION "freeze_subject_of"(uuid, uuid, jsonb);
DROP FUNCTION "queue_rank"(integer, timestamptz);
DROP FUNCTION "slot_is_free"(uuid, integer);

-- How many steps the plan has. A large plan is written before its round of admission.
ALTER TABLE "pending_requests" ADD COLUMN "step_count" INTEGER NOT NULL DEFAULT 0;
UPDATE "pending_requests"
   SET "step_count" = jsonb_array_length("command" #> '{plan,targets}') * jsonb_array_length("command" #> '{plan,actions}')
 WHERE "status" IN ('pending', 'processing');
