-- CreateTable
CREATE TABLE "webhook_events" (
    "message_id" UUID NOT NULL,
    "tenant_id" UUID,
    "event" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "record_id" UUID NOT NULL,
    "shared" BOOLEAN NOT NULL,
    "gone" BOOLEAN NOT NULL,
    "happened_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_events_pkey" PRIMARY KEY ("message_id")
);

ALTER TABLE "webhook_events" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "webhook_events" USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR "tenant_id" = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
