ALTER TABLE "outbox" ADD COLUMN "traceparent" TEXT;
ALTER TABLE "pending_requests" ADD COLUMN "traceparent" TEXT;
ALTER TABLE "deployments" ADD COLUMN "traceparent" TEXT;
