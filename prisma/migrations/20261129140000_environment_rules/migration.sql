-- Rules of environments, approvals, start times, and what a request is judged by.

-- What an environment asks of deployments: approvals, windows, promotion. Empty: nothing.
ALTER TABLE environments ADD COLUMN rules jsonb NOT NULL DEFAULT '{}';
CREATE INDEX environments_ruled ON environments (id) WHERE rules <> '{}';

ALTER TABLE pending_requests
  ADD COLUMN start_at timestamptz(3),
  ADD COLUMN expires_at timestamptz(3),
  ADD COLUMN overrides_rules boolean NOT NULL DEFAULT false,
  ADD COLUMN author_id uuid,
  ADD COLUMN variant text,
  ADD COLUMN plan_hash text,
  -- When the request must be judged although nobody changes anything; null: in its turn, or when something changes.
  ADD COLUMN review_at timestamptz(3),
  -- What a parked request waits for first: such a request has no place in the queue. Null: it has one.
  ADD COLUMN parked_for text,
  -- Why it was cancelled, if no newer request replaced it and no user cancelled it.
  ADD COLUMN cancelled_because text,
  -- Whether webhooks were told that it needs approvals.
  ADD COLUMN approval_announced boolean NOT NULL DEFAULT false;
CREATE INDEX pending_requests_review ON pending_requests (review_at) WHERE status = 'pending' AND review_at IS NOT NULL;

UPDATE pending_requests SET author_id = (command #>> '{caller,user_id}')::uuid WHERE status = 'pending';

-- Parked requests have the last rank there is. These indexes leave them out, so that they cost a round nothing.
CREATE INDEX pending_requests_in_queue ON pending_requests (freeze_key, rank, id)
  WHERE status = 'pending' AND rank < 9007199254740991;
CREATE INDEX pending_targets_in_queue ON pending_targets (target_id, rank, request_id) WHERE rank < 9007199254740991;

CREATE TABLE approvals (
  request_id uuid NOT NULL,
  user_id    uuid NOT NULL,
  user_name  text NOT NULL,
  comment    text,
  given_at   timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT approvals_pkey PRIMARY KEY (request_id, user_id),
  CONSTRAINT approvals_request_id_fkey FOREIGN KEY (request_id) REFERENCES pending_requests(id) ON UPDATE CASCADE ON DELETE CASCADE
);
ALTER TABLE approvals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON approvals USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR EXISTS (SELECT FROM pending_requests p WHERE p.id = approvals.request_id));

-- Who approved a deployment before it started.
ALTER TABLE deployments ADD COLUMN approved_by jsonb NOT NULL DEFAULT '[]';

-- Since when a release is in force on a target, and since when no check finds a drift there any more.
ALTER TABLE release_heads ADD COLUMN current_since timestamptz(3);
UPDATE release_heads h SET current_since = r.ended_at
  FROM releases r WHERE r.deployment_id = h.current_deployment_id AND r.target_id = h.target_id;
ALTER TABLE release_checks ADD COLUMN in_sync_since timestamptz(3);
