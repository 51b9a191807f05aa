-- What happens to a deployment for a target that another one works on. Null on a target: the policy of its environment; null
-- there, too: that of the settings.
CREATE TYPE "target_concurrency" AS ENUM ('allow', 'queue', 'reject', 'supersede');
ALTER TABLE "targets" ADD COLUMN "concurrency" "target_concurrency";
ALTER TABLE "environments" ADD COLUMN "concurrency" "target_concurrency";
ALTER TABLE "queue_settings" ADD COLUMN "target_concurrency" "target_concurrency" NOT NULL DEFAULT 'allow';
-- Each start asks whether any target has a policy: usually none has.
CREATE INDEX "targets_with_concurrency" ON "targets" ("concurrency") WHERE "concurrency" <> 'allow';
CREATE INDEX "environments_with_concurrency" ON "environments" ("concurrency") WHERE "concurrency" <> 'allow';
