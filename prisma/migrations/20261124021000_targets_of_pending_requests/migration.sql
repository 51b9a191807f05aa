-- The first targets of what waits, by id and name: the queue is listed without reading the commands, which hold whole plans.
ALTER TABLE "pending_requests" ADD COLUMN "first_targets" JSONB;

UPDATE "pending_requests"
   SET "first_targets" = (
     SELECT jsonb_agg(jsonb_build_object('id', t.target -> 'id', 'name', t.target -> 'name') ORDER BY t.place)
       FROM jsonb_path_query("command", '$.plan.targets[0 to 4]') WITH ORDINALITY AS t (target, place))
 WHERE "status" IN ('pending', 'processing') AND jsonb_typeof("command" #> '{plan,targets}') = 'array';
