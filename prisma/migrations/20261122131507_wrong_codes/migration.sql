-- CreateTable
CREATE TABLE "wrong_codes" (
    "user_id" UUID NOT NULL,
    "failed_at" TIMESTAMPTZ(3)[],
    "locks" INTEGER NOT NULL,
    "locked_until" TIMESTAMPTZ(3),

    CONSTRAINT "wrong_codes_pkey" PRIMARY KEY ("user_id")
);

-- AddForeignKey
ALTER TABLE "wrong_codes" ADD CONSTRAINT "wrong_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "wrong_codes" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY "tenant" ON "wrong_codes" USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR "sees_user"("user_id"));
