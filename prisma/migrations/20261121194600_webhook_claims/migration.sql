-- What is being delivered at this moment, counted for each webhook.
CREATE INDEX "webhook_deliveries_claimed" ON "webhook_deliveries"("webhook_id") WHERE "claim" IS NOT NULL;
