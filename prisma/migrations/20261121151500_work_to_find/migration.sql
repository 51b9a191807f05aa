-- What a dispatcher looks for on every tick must not cost more the more deployments there are. Row-level security keeps
-- Postgres from using an index on an enum, so these are found by what it may use: times, ids, and whether a time is set.
CREATE INDEX "leases_lost" ON "leases" ("deployment_id", "epoch") WHERE "end_reason" = 'lost';
CREATE INDEX "deployments_deadline" ON "deployments" ("deadline_at") WHERE "completed_at" IS NULL AND "deadline_at" IS NOT NULL;
