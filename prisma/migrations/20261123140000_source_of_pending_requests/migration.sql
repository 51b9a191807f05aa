-- What a pending request deploys, and on how many targets. The queue is listed without reading the commands, which hold whole plans.
ALTER TABLE "pending_requests"
  ADD COLUMN "source_type" "source_kind",
  ADD COLUMN "source_id" UUID,
  ADD COLUMN "source_name" TEXT,
  ADD COLUMN "source_version" TEXT,
  ADD COLUMN "target_count" INTEGER;

UPDATE "pending_requests"
   SET "source_type" = ("command" #>> '{plan,source,type}')::source_kind,
       "source_id" = ("command" #>> '{plan,source,id}')::uuid,
       "source_name" = "command" #>> '{plan,source,name}',
       "source_version" = "command" #>> '{plan,source,version}',
       "target_count" = CASE jsonb_typeof("command" #> '{plan,targets}')
                          WHEN 'array' THEN jsonb_array_length("command" #> '{plan,targets}') END
 WHERE "status" IN ('pending', 'processing');
