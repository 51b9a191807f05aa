-- CreateTable
CREATE TABLE "agent_grants" (
    "id" UUID NOT NULL,
    "target_id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agent_grants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agents" (
    "id" UUID NOT NULL,
    "target_id" UUID NOT NULL,
    "grant_id" UUID NOT NULL,
    "host" TEXT NOT NULL,
    "port" INTEGER NOT NULL,
    "version" TEXT NOT NULL,
    "key_sealed" TEXT NOT NULL,
    "credential_hash" TEXT NOT NULL,
    "enrolled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "agent_grants_target_id_idx" ON "agent_grants"("target_id");

-- CreateIndex
CREATE UNIQUE INDEX "agents_target_id_key" ON "agents"("target_id");

-- CreateIndex
CREATE UNIQUE INDEX "agents_grant_id_key" ON "agents"("grant_id");

-- AddForeignKey
ALTER TABLE "agent_grants" ADD CONSTRAINT "agent_grants_target_id_fkey" FOREIGN KEY ("target_id") REFERENCES "targets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_target_id_fkey" FOREIGN KEY ("target_id") REFERENCES "targets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_grant_id_fkey" FOREIGN KEY ("grant_id") REFERENCES "agent_grants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "agent_grants" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "agent_grants" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_target"("target_id"));
ALTER TABLE "agents" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "agents" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_target"("target_id"));
