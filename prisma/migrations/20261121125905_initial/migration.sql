-- CreateEnum
CREATE TYPE "source_kind" AS ENUM ('action', 'sequence', 'solution');

-- CreateEnum
CREATE TYPE "deployment_state" AS ENUM ('pending', 'queued', 'running', 'success', 'failed', 'cancelled', 'rolling_back', 'rolled_back');

-- CreateEnum
CREATE TYPE "pending_status" AS ENUM ('pending', 'processing', 'dispatched', 'cancelled', 'failed');

-- CreateEnum
CREATE TYPE "step_state" AS ENUM ('pending', 'running', 'completed', 'failed', 'cancelled', 'skipped', 'rolling_back', 'rolled_back', 'rollback_failed');

-- CreateTable
CREATE TABLE "users" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "username" TEXT NOT NULL,
    "display_name" TEXT,
    "password_hash" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "tenant_id" UUID,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "last_login_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "roles" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "permissions" TEXT[],
    "built_in" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "roles_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_roles" (
    "user_id" UUID NOT NULL,
    "role_id" UUID NOT NULL,

    CONSTRAINT "user_roles_pkey" PRIMARY KEY ("user_id","role_id")
);

-- CreateTable
CREATE TABLE "tenants" (
    "id" UUID NOT NULL,
    "number" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "description" TEXT,
    "variables_sealed" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "environments" (
    "id" UUID NOT NULL,
    "number" SERIAL NOT NULL,
    "tenant_id" UUID,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "variables_sealed" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "environments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "targets" (
    "id" UUID NOT NULL,
    "number" SERIAL NOT NULL,
    "tenant_id" UUID,
    "environment_id" UUID,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "connection" JSONB NOT NULL,
    "connection_secrets" TEXT,
    "variables_sealed" TEXT,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "targets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "target_tags" (
    "target_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "target_tags_pkey" PRIMARY KEY ("target_id","key","value")
);

-- CreateTable
CREATE TABLE "sources" (
    "id" UUID NOT NULL,
    "number" SERIAL NOT NULL,
    "kind" "source_kind" NOT NULL,
    "tenant_id" UUID,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sources_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "source_versions" (
    "source_id" UUID NOT NULL,
    "version" TEXT NOT NULL,
    "definition" JSONB NOT NULL,
    "secrets" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "source_versions_pkey" PRIMARY KEY ("source_id","version")
);

-- CreateTable
CREATE TABLE "freezes" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "start_time" TIMESTAMPTZ(3) NOT NULL,
    "end_time" TIMESTAMPTZ(3) NOT NULL,
    "tenant_id" UUID,
    "environment_id" UUID,
    "solution_id" UUID,
    "created_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "freezes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deployments" (
    "id" UUID NOT NULL,
    "state" "deployment_state" NOT NULL,
    "tenant_id" UUID,
    "tenant_name" TEXT,
    "environment_id" UUID,
    "environment_name" TEXT,
    "source_type" "source_kind" NOT NULL,
    "source_id" UUID NOT NULL,
    "source_name" TEXT NOT NULL,
    "source_version" TEXT NOT NULL,
    "plan_head" JSONB NOT NULL,
    "selection" JSONB NOT NULL,
    "total_steps" INTEGER NOT NULL,
    "triggered_by" TEXT,
    "triggered_by_id" UUID,
    "request_id" TEXT,
    "source_deployment_id" UUID,
    "freeze_override" TEXT,
    "cancel_reason" TEXT,
    "error_message" TEXT,
    "analysis_enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "deadline_at" TIMESTAMPTZ(3),

    CONSTRAINT "deployments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deployment_actions" (
    "deployment_id" UUID NOT NULL,
    "action_index" INTEGER NOT NULL,
    "sequence_id" UUID NOT NULL,
    "sequence_name" TEXT NOT NULL,
    "sequence_version" TEXT NOT NULL,
    "sequence_order" INTEGER NOT NULL,
    "action_id" UUID NOT NULL,
    "action_name" TEXT NOT NULL,
    "action_version" TEXT NOT NULL,
    "action_order" INTEGER NOT NULL,
    "timeout_seconds" INTEGER NOT NULL,
    "max_retries" INTEGER NOT NULL,
    "has_rollback" BOOLEAN NOT NULL,
    "variables" JSONB NOT NULL,

    CONSTRAINT "deployment_actions_pkey" PRIMARY KEY ("deployment_id","action_index")
);

-- CreateTable
CREATE TABLE "deployment_targets" (
    "deployment_id" UUID NOT NULL,
    "target_index" INTEGER NOT NULL,
    "target_id" UUID NOT NULL,
    "target_name" TEXT NOT NULL,
    "variables" JSONB NOT NULL,

    CONSTRAINT "deployment_targets_pkey" PRIMARY KEY ("deployment_id","target_index")
);

-- CreateTable
CREATE TABLE "deployment_transitions" (
    "deployment_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "from_state" "deployment_state",
    "to_state" "deployment_state" NOT NULL,
    "message" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "deployment_transitions_pkey" PRIMARY KEY ("deployment_id","number")
);

-- CreateTable
CREATE TABLE "pending_requests" (
    "id" UUID NOT NULL,
    "status" "pending_status" NOT NULL DEFAULT 'pending',
    "priority" INTEGER NOT NULL,
    "tenant_id" UUID,
    "tenant_name" TEXT,
    "environment_id" UUID,
    "environment_name" TEXT,
    "triggered_by" TEXT,
    "command" JSONB NOT NULL,
    "request_id" TEXT,
    "queued_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "retry_count" INTEGER NOT NULL DEFAULT 0,
    "last_retry_at" TIMESTAMPTZ(3),
    "error_message" TEXT,
    "deployment_id" UUID,
    "dispatched_at" TIMESTAMPTZ(3),
    "dispatched_to_instance_id" UUID,

    CONSTRAINT "pending_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "leases" (
    "epoch" BIGSERIAL NOT NULL,
    "instance_id" UUID NOT NULL,
    "slot" INTEGER NOT NULL,
    "deployment_id" UUID NOT NULL,
    "acquired_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "end_reason" TEXT,

    CONSTRAINT "leases_pkey" PRIMARY KEY ("epoch")
);

-- CreateTable
CREATE TABLE "steps" (
    "deployment_id" UUID NOT NULL,
    "target_index" INTEGER NOT NULL,
    "action_index" INTEGER NOT NULL,
    "state" "step_state" NOT NULL DEFAULT 'pending',
    "retry_count" INTEGER NOT NULL DEFAULT 0,
    "ever_failed" BOOLEAN NOT NULL DEFAULT false,
    "exit_code" INTEGER,
    "error_message" TEXT,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "steps_pkey" PRIMARY KEY ("deployment_id","target_index","action_index")
);

-- CreateTable
CREATE TABLE "instances" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "base_url" TEXT NOT NULL,
    "capacity" INTEGER NOT NULL,
    "labels" JSONB NOT NULL DEFAULT '{}',
    "draining" BOOLEAN NOT NULL DEFAULT false,
    "credential_hash" TEXT NOT NULL,
    "callback_token_sealed" TEXT NOT NULL,
    "enrolled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_heartbeat_at" TIMESTAMPTZ(3),

    CONSTRAINT "instances_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "instance_slots" (
    "instance_id" UUID NOT NULL,
    "slot" INTEGER NOT NULL,
    "retired" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "instance_slots_pkey" PRIMARY KEY ("instance_id","slot")
);

-- CreateTable
CREATE TABLE "run_progress" (
    "deployment_id" UUID NOT NULL,
    "epoch" BIGINT NOT NULL,
    "next_event" BIGINT NOT NULL DEFAULT 0,
    "next_line" BIGINT NOT NULL DEFAULT 0,
    "ended_steps" INTEGER NOT NULL DEFAULT 0,
    "completed_steps" INTEGER NOT NULL DEFAULT 0,
    "failed_steps" INTEGER NOT NULL DEFAULT 0,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "run_progress_pkey" PRIMARY KEY ("deployment_id")
);

-- CreateTable
CREATE TABLE "command_results" (
    "deployment_id" UUID NOT NULL,
    "target_index" INTEGER NOT NULL,
    "action_index" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "exit_code" INTEGER,
    "stdout_tail" TEXT NOT NULL,
    "stderr_tail" TEXT NOT NULL,
    "error_message" TEXT,
    "analysis" JSONB,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "command_results_pkey" PRIMARY KEY ("deployment_id","target_index","action_index")
);

-- CreateTable
CREATE TABLE "log_chunks" (
    "deployment_id" UUID NOT NULL,
    "first_line" BIGINT NOT NULL,
    "line_count" INTEGER NOT NULL,
    "lines" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "log_chunks_pkey" PRIMARY KEY ("deployment_id","first_line","created_at")
) PARTITION BY RANGE ("created_at");

-- CreateTable
CREATE TABLE "target_facts" (
    "target_id" UUID NOT NULL,
    "host_key" TEXT,
    "last_seen_at" TIMESTAMPTZ(3),

    CONSTRAINT "target_facts_pkey" PRIMARY KEY ("target_id")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "message_id" UUID NOT NULL,
    "exchange" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "users_username_key" ON "users"("username");

-- CreateIndex
CREATE UNIQUE INDEX "roles_name_key" ON "roles"("name");

-- CreateIndex
CREATE UNIQUE INDEX "tenants_number_key" ON "tenants"("number");

-- CreateIndex
CREATE UNIQUE INDEX "tenants_name_key" ON "tenants"("name");

-- CreateIndex
CREATE UNIQUE INDEX "tenants_slug_key" ON "tenants"("slug");

-- CreateIndex
CREATE INDEX "tenants_created_at_id_idx" ON "tenants"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "environments_number_key" ON "environments"("number");

-- CreateIndex
CREATE INDEX "environments_created_at_id_idx" ON "environments"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "environments_tenant_id_name_key" ON "environments"("tenant_id", "name") NULLS NOT DISTINCT;

-- CreateIndex
CREATE UNIQUE INDEX "targets_number_key" ON "targets"("number");

-- CreateIndex
CREATE INDEX "targets_environment_id_idx" ON "targets"("environment_id");

-- CreateIndex
CREATE INDEX "targets_created_at_id_idx" ON "targets"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "targets_tenant_id_name_key" ON "targets"("tenant_id", "name") NULLS NOT DISTINCT;

-- CreateIndex
CREATE INDEX "target_tags_key_value_idx" ON "target_tags"("key", "value");

-- CreateIndex
CREATE UNIQUE INDEX "sources_number_key" ON "sources"("number");

-- CreateIndex
CREATE INDEX "sources_kind_created_at_id_idx" ON "sources"("kind", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "sources_kind_tenant_id_name_key" ON "sources"("kind", "tenant_id", "name") NULLS NOT DISTINCT;

-- CreateIndex
CREATE INDEX "freezes_end_time_idx" ON "freezes"("end_time");

-- CreateIndex
CREATE INDEX "deployments_created_at_id_idx" ON "deployments"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deployments_tenant_id_created_at_id_idx" ON "deployments"("tenant_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "deployment_actions_action_id_idx" ON "deployment_actions"("action_id");

-- CreateIndex
CREATE INDEX "deployment_targets_target_id_idx" ON "deployment_targets"("target_id");

-- CreateIndex
CREATE INDEX "leases_deployment_id_idx" ON "leases"("deployment_id");

-- CreateIndex
CREATE UNIQUE INDEX "instances_name_key" ON "instances"("name");

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "user_roles" ADD CONSTRAINT "user_roles_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "environments" ADD CONSTRAINT "environments_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "targets" ADD CONSTRAINT "targets_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "targets" ADD CONSTRAINT "targets_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "target_tags" ADD CONSTRAINT "target_tags_target_id_fkey" FOREIGN KEY ("target_id") REFERENCES "targets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sources" ADD CONSTRAINT "sources_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "source_versions" ADD CONSTRAINT "source_versions_source_id_fkey" FOREIGN KEY ("source_id") REFERENCES "sources"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freezes" ADD CONSTRAINT "freezes_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freezes" ADD CONSTRAINT "freezes_environment_id_fkey" FOREIGN KEY ("environment_id") REFERENCES "environments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freezes" ADD CONSTRAINT "freezes_solution_id_fkey" FOREIGN KEY ("solution_id") REFERENCES "sources"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment_actions" ADD CONSTRAINT "deployment_actions_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment_targets" ADD CONSTRAINT "deployment_targets_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "deployment_transitions" ADD CONSTRAINT "deployment_transitions_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "leases" ADD CONSTRAINT "leases_instance_id_slot_fkey" FOREIGN KEY ("instance_id", "slot") REFERENCES "instance_slots"("instance_id", "slot") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "instance_slots" ADD CONSTRAINT "instance_slots_instance_id_fkey" FOREIGN KEY ("instance_id") REFERENCES "instances"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What follows cannot be said in the Prisma schema.

-- A slot has at most one live lease, and a deployment too. Leases refer to existing slots, so that the number of live
-- leases of an instance can never exceed its capacity.
CREATE UNIQUE INDEX "leases_live_slot" ON "leases" ("instance_id", "slot") WHERE "ended_at" IS NULL;
CREATE UNIQUE INDEX "leases_live_deployment" ON "leases" ("deployment_id") WHERE "ended_at" IS NULL;

-- The order of the queue, and the deployments that somebody still has to bring to an end.
CREATE INDEX "pending_requests_queue" ON "pending_requests" ("priority" DESC, "queued_at", "id") WHERE "status" = 'pending';
CREATE INDEX "pending_requests_recent" ON "pending_requests" ("status", "queued_at" DESC);
CREATE INDEX "deployments_unfinished" ON "deployments" ("state") WHERE "state" IN ('pending', 'queued', 'running', 'rolling_back');

ALTER TABLE "deployments" ADD CONSTRAINT "deployments_completed_when_final"
  CHECK (("completed_at" IS NOT NULL) = ("state" IN ('success', 'failed', 'cancelled', 'rolled_back')));
ALTER TABLE "freezes" ADD CONSTRAINT "freezes_end_after_start" CHECK ("end_time" > "start_time");

-- Steps change state twice or more: room on the page keeps those updates off the index.
ALTER TABLE "steps" SET (fillfactor = 70);

-- A step's id follows from its place, so that 200,000 steps need no index for it. The same rule: stepId() in
-- packages/domain.
CREATE FUNCTION "step_id"("deployment" uuid, "target" integer, "action" integer) RETURNS uuid
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN overlay(overlay(md5("deployment"::text || '/' || "target" || '/' || "action") placing '8' from 13) placing '8' from 17)::uuid;

CREATE TABLE "log_chunks_default" PARTITION OF "log_chunks" DEFAULT;

-- Makes the partitions from today to so many days ahead. Days are UTC. Called by the executor-bridge, which stores lines.
CREATE FUNCTION "ensure_log_partitions"("days_ahead" integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  day date;
  partition text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('slipway.log_partitions'));
  FOR day IN SELECT generate_series((now() AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date + "days_ahead", '1 day')::date LOOP
    partition := 'log_chunks_' || to_char(day, 'YYYYMMDD');
    CONTINUE WHEN to_regclass(format('%I', partition)) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I PARTITION OF log_chunks FOR VALUES FROM (%L) TO (%L)',
      partition, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
  END LOOP;
END $$;
SELECT "ensure_log_partitions"(2);
