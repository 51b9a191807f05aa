-- From where and with what a session was last used, so that its user recognises it. Null for sessions of before.
ALTER TABLE "sessions" ADD COLUMN "last_used_at" TIMESTAMPTZ(3), ADD COLUMN "client_ip" TEXT, ADD COLUMN "user_agent" TEXT;
