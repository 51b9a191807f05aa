-- Instances dial out: the bridge no longer calls them, so it keeps neither their address nor a token to show them.
ALTER TABLE "instances" DROP COLUMN "base_url", DROP COLUMN "callback_token_sealed";
ALTER TABLE "instances" ADD COLUMN "accepts_runs" BOOLEAN NOT NULL DEFAULT true;

-- The instance whose answer to a probe is awaited. What others say of the target does not count.
ALTER TABLE "target_facts" ADD COLUMN "asked_of" UUID;
