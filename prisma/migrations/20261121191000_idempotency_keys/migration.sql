-- Which command a caller's `Idempotency-Key` stands for. What the command came to is in its own rows.
CREATE TABLE "idempotency_keys" (
    "user_id" UUID NOT NULL,
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "command_id" UUID NOT NULL,
    "body_hash" TEXT NOT NULL,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("user_id","scope","key")
);
CREATE INDEX "idempotency_keys_claimed_at_idx" ON "idempotency_keys"("claimed_at");
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "idempotency_keys" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "idempotency_keys" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));
