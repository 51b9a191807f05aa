-- Which call took the key: the audit record of its command names that call, whoever writes it.
ALTER TABLE "idempotency_keys" ADD COLUMN "request_id" TEXT, ADD COLUMN "client_ip" TEXT;
