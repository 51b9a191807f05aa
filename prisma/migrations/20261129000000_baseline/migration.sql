-- The whole schema of Slipway: the first migration. Later migrations add to it and never edit it
-- (docs/decisions/0030-expand-and-contract.md).
--
-- Each chapter belongs to the service that owns its tables. prisma/schema.prisma describes the columns. The rights of each service
-- are in packages/database/src/roles/rights.ts. Rules of the product stand in TypeScript (docs/decisions/0069-postgres-guards.md).
--
-- A service that only locks rows needs the right to update one column of their table. This column is `lockable`: Postgres generates
-- it, so nobody can change it.

-- ── Extensions, types and functions that need no table ──────────────────────────────────────────────────────────────

-- Searches over names use trigrams.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE TYPE deployment_state AS ENUM (
  'pending', 'queued', 'running', 'success', 'failed', 'cancelled', 'rolling_back', 'rolled_back'
);
CREATE TYPE pending_status AS ENUM ('pending', 'processing', 'dispatched', 'cancelled', 'failed');
CREATE TYPE release_state AS ENUM ('running', 'applied', 'failed', 'cancelled', 'rolling_back', 'rolled_back', 'rollback_failed');
CREATE TYPE source_kind AS ENUM ('action', 'sequence', 'solution');
CREATE TYPE step_state AS ENUM (
  'pending', 'running', 'completed', 'failed', 'cancelled', 'skipped', 'rolling_back', 'rolled_back', 'rollback_failed'
);
CREATE TYPE target_concurrency AS ENUM ('allow', 'queue', 'reject', 'supersede');
CREATE TYPE webhook_delivery_status AS ENUM ('pending', 'delivered', 'failed');

-- The id of a step from its place, as `stepId` in packages/domain computes it.
CREATE FUNCTION step_id(deployment uuid, target integer, action integer) RETURNS uuid
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN overlay(overlay(md5(deployment::text || '/' || target || '/' || action) placing '8' from 13) placing '8' from 17)::uuid;

-- A text that sorts, by bytes, as semantic versions do. Each number comes after its number of digits. A release comes after its
-- prereleases. A prerelease comes before a longer one that continues it. The input is MAJOR.MINOR.PATCH or
-- MAJOR.MINOR.PATCH-PRERELEASE.
CREATE FUNCTION version_precedence(version text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $_$
  SELECT
    (SELECT string_agg(lpad(length(number)::text, 3, '0') || number, '.' ORDER BY place)
     FROM unnest(string_to_array(split_part(version, '-', 1), '.')) WITH ORDINALITY AS numbers (number, place))
    || CASE WHEN strpos(version, '-') = 0 THEN '~' ELSE
      (SELECT string_agg(
         CASE WHEN identifier ~ '^[0-9]+$' THEN '0' || lpad(length(identifier)::text, 3, '0') || identifier
              ELSE '1' || identifier END, ' ' ORDER BY place)
       FROM unnest(string_to_array(substr(version, strpos(version, '-') + 1), '.')) WITH ORDINALITY AS identifiers (identifier, place))
      END
$_$;

-- Whether labels fit a selector: the rule of packages/domain/src/instance-selector.ts, for statements over many targets.
CREATE FUNCTION matches_labels(selector jsonb, labels jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE
AS $$
  SELECT labels @> coalesce(selector -> 'match_labels', '{}')
     AND NOT EXISTS (
       SELECT FROM jsonb_array_elements(coalesce(selector -> 'match_expressions', '[]')) AS e
        WHERE NOT CASE e ->> 'operator'
                    WHEN 'In' THEN coalesce(e -> 'values' ? (labels ->> (e ->> 'key')), false)
                    WHEN 'NotIn' THEN NOT coalesce(e -> 'values' ? (labels ->> (e ->> 'key')), false)
                    WHEN 'Exists' THEN labels ? (e ->> 'key')
                    WHEN 'DoesNotExist' THEN NOT labels ? (e ->> 'key')
                  END)
$$;

-- ── Identity (owner: gateway) ───────────────────────────────────────────────────────────────────────────────────────

-- People and machines that log in. E-mail addresses are stored in lower case.
CREATE TABLE users (
  id uuid NOT NULL,
  email text NOT NULL,
  username text NOT NULL,
  display_name text,
  password_hash text NOT NULL,
  status text DEFAULT 'active' NOT NULL,
  tenant_id uuid,
  email_verified boolean DEFAULT false NOT NULL,
  last_login_at timestamptz(3),
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  token_version integer DEFAULT 1 NOT NULL,
  totp_enabled boolean DEFAULT false NOT NULL,
  totp_last_step bigint,
  totp_sealed text,
  name_key text,
  CONSTRAINT users_pkey PRIMARY KEY (id)
);
CREATE INDEX users_created_at_id_idx ON users (created_at DESC, id DESC);
CREATE UNIQUE INDEX users_email_key ON users (email);
CREATE UNIQUE INDEX users_name_key_unique ON users (name_key) WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX users_username_key ON users (username);

-- Named lists of permissions. The gateway creates the roles of the system when it starts.
CREATE TABLE roles (
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  permissions text[],
  built_in boolean DEFAULT false NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  name_key text,
  CONSTRAINT roles_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX roles_name_key ON roles (name);
CREATE UNIQUE INDEX roles_name_key_unique ON roles (name_key) WHERE name_key IS NOT NULL;

-- The roles of each user.
CREATE TABLE user_roles (
  user_id uuid NOT NULL,
  role_id uuid NOT NULL,
  CONSTRAINT user_roles_pkey PRIMARY KEY (user_id, role_id),
  CONSTRAINT user_roles_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT user_roles_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);

-- A session begins with a login. It is valid while it is not revoked, has not expired, and has the present `token_version` of
-- its user.
CREATE TABLE sessions (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  token_version integer NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  client_ip text,
  user_agent text,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX sessions_user_id_idx ON sessions (user_id);

-- Refresh tokens by hash. The family is the session. A token that was replaced and comes back revokes its family.
CREATE TABLE refresh_tokens (
  token_hash text NOT NULL,
  family_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  rotated_at timestamptz(3),
  revoked_at timestamptz(3),
  CONSTRAINT refresh_tokens_pkey PRIMARY KEY (token_hash),
  CONSTRAINT refresh_tokens_family_id_fkey FOREIGN KEY (family_id) REFERENCES sessions(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT refresh_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX refresh_tokens_expires_at_idx ON refresh_tokens (expires_at);
CREATE INDEX refresh_tokens_family_id_idx ON refresh_tokens (family_id);
CREATE INDEX refresh_tokens_user_id_idx ON refresh_tokens (user_id);

-- One-time codes that replace a two-factor code.
CREATE TABLE recovery_codes (
  user_id uuid NOT NULL,
  code_hash text NOT NULL,
  used_at timestamptz(3),
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash),
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);

-- Wrong two-factor codes of a user, counted over all logins, sessions and addresses.
CREATE TABLE wrong_codes (
  user_id uuid NOT NULL,
  failed_at timestamptz(3)[],
  locks integer NOT NULL,
  locked_until timestamptz(3),
  CONSTRAINT wrong_codes_pkey PRIMARY KEY (user_id),
  CONSTRAINT wrong_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);

-- API keys by hash, with the scopes that limit the permissions of their user.
CREATE TABLE api_keys (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  description text,
  key_prefix text NOT NULL,
  key_hash text NOT NULL,
  scopes text[],
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  last_used_ip text,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX api_keys_key_hash_key ON api_keys (key_hash);
CREATE INDEX api_keys_user_id_created_at_idx ON api_keys (user_id, created_at DESC);

-- The command that an `Idempotency-Key` of a user stands for. Rows are kept for a day.
CREATE TABLE idempotency_keys (
  user_id uuid NOT NULL,
  scope text NOT NULL,
  key text NOT NULL,
  command_id uuid NOT NULL,
  body_hash text NOT NULL,
  claimed_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  request_id text,
  client_ip text,
  api_key jsonb,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, scope, key),
  CONSTRAINT idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX idempotency_keys_claimed_at_idx ON idempotency_keys (claimed_at);

-- ── Audit (inserted by whoever changes something, in the same transaction; never updated; dropped by retention alone) ───

-- What somebody did, or was refused. The transaction of a change inserts its record. Triggers refuse every update.
CREATE TABLE audit_records (
  number bigserial,
  id uuid NOT NULL,
  at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  actor_id uuid,
  actor_name text,
  actor_ip text,
  action text NOT NULL,
  resource_type text NOT NULL,
  resource_id text,
  tenant_id uuid,
  request_id text,
  details jsonb NOT NULL,
  CONSTRAINT audit_records_pkey PRIMARY KEY (number)
);
CREATE INDEX audit_records_action_at_tenant_id_idx ON audit_records (action, at DESC, tenant_id);
CREATE INDEX audit_records_actor_id_at_tenant_id_idx ON audit_records (actor_id, at DESC, tenant_id);
-- Only records of calls with an API key are in this index.
CREATE INDEX audit_records_api_key_idx ON audit_records (((details #>> '{api_key,id}'::text[])), at DESC, tenant_id)
  WHERE (details #>> '{api_key,id}'::text[]) IS NOT NULL;
CREATE INDEX audit_records_at_number_tenant_id_idx ON audit_records (at DESC, number DESC, tenant_id);
CREATE UNIQUE INDEX audit_records_id_key ON audit_records (id);
CREATE INDEX audit_records_resource_id_idx ON audit_records (resource_id);
CREATE INDEX audit_records_resource_type_resource_id_tenant_id_idx ON audit_records (resource_type, resource_id, tenant_id);
CREATE INDEX audit_records_tenant_id_at_idx ON audit_records (tenant_id, at DESC);

-- The chain over the audit records: the hash of each link covers its record and the hash of the link before it.
CREATE TABLE audit_links (
  "position" bigint NOT NULL,
  record_number bigint NOT NULL,
  hash text NOT NULL,
  CONSTRAINT audit_links_pkey PRIMARY KEY ("position")
);
CREATE UNIQUE INDEX audit_links_record_number_key ON audit_links (record_number);

-- ── Catalog (owner: gateway) ────────────────────────────────────────────────────────────────────────────────────────

-- Tenants. `variables_sealed` is encrypted, because variables may be secrets.
CREATE TABLE tenants (
  id uuid NOT NULL,
  number serial,
  name text NOT NULL,
  slug text NOT NULL,
  description text,
  variables_sealed text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  sensitive_variables text[] DEFAULT '{}'::text[] NOT NULL,
  instance_selector jsonb DEFAULT '{}'::jsonb NOT NULL,
  managed_by text,
  name_key text,
  CONSTRAINT tenants_pkey PRIMARY KEY (id)
);
CREATE INDEX tenants_created_at_id_idx ON tenants (created_at DESC, id DESC);
CREATE UNIQUE INDEX tenants_name_key ON tenants (name);
CREATE UNIQUE INDEX tenants_name_key_unique ON tenants (name_key) WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX tenants_number_key ON tenants (number);
CREATE UNIQUE INDEX tenants_slug_key ON tenants (slug);
ALTER TABLE users ADD CONSTRAINT users_tenant_id_fkey
  FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE RESTRICT;

-- Environments of a tenant, or shared by all tenants (no `tenant_id`).
CREATE TABLE environments (
  id uuid NOT NULL,
  number serial,
  tenant_id uuid,
  name text NOT NULL,
  description text,
  variables_sealed text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  sensitive_variables text[] DEFAULT '{}'::text[] NOT NULL,
  concurrency target_concurrency,
  instance_selector jsonb DEFAULT '{}'::jsonb NOT NULL,
  managed_by text,
  name_key text,
  CONSTRAINT environments_pkey PRIMARY KEY (id),
  CONSTRAINT environments_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX environments_created_at_id_idx ON environments (created_at DESC, id DESC);
CREATE UNIQUE INDEX environments_name_key_unique ON environments (tenant_id, name_key) NULLS NOT DISTINCT
  WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX environments_number_key ON environments (number);
CREATE UNIQUE INDEX environments_tenant_id_name_key ON environments (tenant_id, name) NULLS NOT DISTINCT;
-- Each start asks whether any record has another policy than `allow`. Usually none has.
CREATE INDEX environments_with_concurrency ON environments (concurrency) WHERE concurrency <> 'allow';

-- Machines and services to which Slipway deploys. Secrets of the connection are encrypted apart.
CREATE TABLE targets (
  id uuid NOT NULL,
  number serial,
  tenant_id uuid,
  environment_id uuid,
  name text NOT NULL,
  description text,
  connection jsonb NOT NULL,
  connection_secrets text,
  variables_sealed text,
  enabled boolean DEFAULT true NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  sensitive_variables text[] DEFAULT '{}'::text[] NOT NULL,
  concurrency target_concurrency,
  instance_selector jsonb DEFAULT '{}'::jsonb NOT NULL,
  managed_by text,
  name_key text,
  lockable boolean GENERATED ALWAYS AS (true) STORED,
  CONSTRAINT targets_pkey PRIMARY KEY (id),
  CONSTRAINT targets_environment_id_fkey FOREIGN KEY (environment_id)
    REFERENCES environments(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT targets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX targets_created_at_id_idx ON targets (created_at DESC, id DESC);
CREATE INDEX targets_environment_id_idx ON targets (environment_id);
CREATE UNIQUE INDEX targets_name_key_unique ON targets (tenant_id, name_key) NULLS NOT DISTINCT WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX targets_number_key ON targets (number);
CREATE UNIQUE INDEX targets_tenant_id_name_key ON targets (tenant_id, name) NULLS NOT DISTINCT;
-- The same question about targets.
CREATE INDEX targets_with_concurrency ON targets (concurrency) WHERE concurrency <> 'allow';

-- Tags by which targets are selected.
CREATE TABLE target_tags (
  target_id uuid NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  CONSTRAINT target_tags_pkey PRIMARY KEY (target_id, key, value),
  CONSTRAINT target_tags_target_id_fkey FOREIGN KEY (target_id) REFERENCES targets(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX target_tags_key_value_idx ON target_tags (key, value);

-- A grant lets an agent enrol for a target, once. The agent is valid as long as its grant exists.
CREATE TABLE agent_grants (
  id uuid NOT NULL,
  target_id uuid NOT NULL,
  token_hash text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT agent_grants_pkey PRIMARY KEY (id),
  CONSTRAINT agent_grants_target_id_fkey FOREIGN KEY (target_id) REFERENCES targets(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX agent_grants_target_id_idx ON agent_grants (target_id);

-- Actions, sequences and solutions. Their content is in versions.
CREATE TABLE sources (
  id uuid NOT NULL,
  number serial,
  kind source_kind NOT NULL,
  tenant_id uuid,
  name text NOT NULL,
  description text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  managed_by text,
  name_key text,
  CONSTRAINT sources_pkey PRIMARY KEY (id),
  CONSTRAINT sources_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX sources_kind_created_at_id_idx ON sources (kind, created_at DESC, id DESC);
CREATE UNIQUE INDEX sources_kind_tenant_id_name_key ON sources (kind, tenant_id, name) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX sources_name_key_unique ON sources (kind, tenant_id, name_key) NULLS NOT DISTINCT WHERE name_key IS NOT NULL;
CREATE UNIQUE INDEX sources_number_key ON sources (number);

-- Published versions, which never change.
CREATE TABLE source_versions (
  source_id uuid NOT NULL,
  version text NOT NULL,
  definition jsonb NOT NULL,
  secrets text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  templates jsonb,
  CONSTRAINT source_versions_pkey PRIMARY KEY (source_id, version),
  CONSTRAINT source_versions_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON UPDATE CASCADE ON DELETE CASCADE
);
-- The latest version of a source: the highest that is no prerelease.
CREATE INDEX source_versions_latest ON source_versions (source_id, version_precedence(version) COLLATE "C" DESC)
  WHERE strpos(version, '-') = 0;
CREATE INDEX source_versions_source_id_created_at_idx ON source_versions (source_id, created_at DESC);

-- The names that any version of a source declares sensitive. Without this table, a plan reads every published definition.
CREATE TABLE sensitive_names (
  source_id uuid NOT NULL,
  name text NOT NULL,
  CONSTRAINT sensitive_names_pkey PRIMARY KEY (source_id, name),
  CONSTRAINT sensitive_names_source_id_fkey FOREIGN KEY (source_id) REFERENCES sources(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX sensitive_names_name_idx ON sensitive_names (name);

-- Files by SHA-256, stored once for all tenants. A row exists when all of its chunks do.
CREATE TABLE contents (
  id text NOT NULL,
  size bigint NOT NULL,
  upload_id uuid NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  uploaded_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT contents_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX contents_upload_id_key ON contents (upload_id);
CREATE INDEX contents_uploaded_at_idx ON contents (uploaded_at);

-- Uploads that run, or that became content. The sweep deletes an upload that broke off.
CREATE TABLE content_uploads (
  id uuid NOT NULL,
  touched_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  tenant_id uuid,
  reserved_bytes bigint DEFAULT 0 NOT NULL,
  CONSTRAINT content_uploads_pkey PRIMARY KEY (id)
);
-- The reservations of running uploads count against the quotas.
CREATE INDEX content_uploads_reserved ON content_uploads (tenant_id) WHERE reserved_bytes > 0;
CREATE INDEX content_uploads_touched_at_idx ON content_uploads (touched_at);
ALTER TABLE contents ADD CONSTRAINT contents_upload_id_fkey
  FOREIGN KEY (upload_id) REFERENCES content_uploads(id) ON UPDATE CASCADE ON DELETE RESTRICT;

-- The bytes of an upload, in pieces of 256 KiB. EXTERNAL: compressing them again would cost time and save nothing.
CREATE TABLE content_chunks (
  upload_id uuid NOT NULL,
  number integer NOT NULL,
  bytes bytea NOT NULL,
  CONSTRAINT content_chunks_pkey PRIMARY KEY (upload_id, number),
  CONSTRAINT content_chunks_upload_id_fkey FOREIGN KEY (upload_id)
    REFERENCES content_uploads(id) ON UPDATE CASCADE ON DELETE CASCADE
);
ALTER TABLE content_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- The users who uploaded content. They may read it before a version uses it.
CREATE TABLE content_uploaders (
  content_id text NOT NULL,
  user_id uuid NOT NULL,
  CONSTRAINT content_uploaders_pkey PRIMARY KEY (content_id, user_id),
  CONSTRAINT content_uploaders_content_id_fkey FOREIGN KEY (content_id)
    REFERENCES contents(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT content_uploaders_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX content_uploaders_user_id_idx ON content_uploaders (user_id);

-- The tenants whose users uploaded content. Its size counts once against the quota of each.
CREATE TABLE content_tenants (
  id bigserial,
  content_id text NOT NULL,
  tenant_id uuid,
  size bigint NOT NULL,
  uploaded_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT content_tenants_pkey PRIMARY KEY (id),
  CONSTRAINT content_tenants_content_id_fkey FOREIGN KEY (content_id)
    REFERENCES contents(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT content_tenants_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX content_tenants_content_id_tenant_id_key ON content_tenants (content_id, tenant_id) NULLS NOT DISTINCT;
CREATE INDEX content_tenants_tenant_id_size_idx ON content_tenants (tenant_id, size);
CREATE INDEX content_tenants_uploaded_at_idx ON content_tenants (uploaded_at);

-- The content that a version of an action uses. Content that a version uses is kept.
CREATE TABLE source_contents (
  source_id uuid NOT NULL,
  version text NOT NULL,
  content_id text NOT NULL,
  CONSTRAINT source_contents_pkey PRIMARY KEY (source_id, version, content_id),
  CONSTRAINT source_contents_content_id_fkey FOREIGN KEY (content_id)
    REFERENCES contents(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT source_contents_source_id_version_fkey FOREIGN KEY (source_id, version)
    REFERENCES source_versions(source_id, version) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX source_contents_content_id_idx ON source_contents (content_id);

-- Times without deployments. `recurs_until` is the end of the last window of a recurring freeze: ended freezes are not read.
CREATE TABLE freezes (
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  start_time timestamptz(3) NOT NULL,
  end_time timestamptz(3) NOT NULL,
  tenant_id uuid,
  environment_id uuid,
  solution_id uuid,
  created_by text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  recurrence text,
  start_offset text,
  time_zone text,
  recurs_until timestamptz(3),
  managed_by text,
  name_key text,
  CONSTRAINT freezes_pkey PRIMARY KEY (id),
  CONSTRAINT freezes_end_after_start CHECK (end_time > start_time),
  CONSTRAINT freezes_environment_id_fkey FOREIGN KEY (environment_id)
    REFERENCES environments(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT freezes_solution_id_fkey FOREIGN KEY (solution_id) REFERENCES sources(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT freezes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX freezes_end_time_idx ON freezes (end_time);
CREATE UNIQUE INDEX freezes_name_key_unique ON freezes (tenant_id, name_key) NULLS NOT DISTINCT WHERE name_key IS NOT NULL;
-- Recurring freezes by their end.
CREATE INDEX freezes_recurring ON freezes (recurs_until) WHERE recurrence IS NOT NULL;
CREATE UNIQUE INDEX freezes_tenant_id_name_key ON freezes (tenant_id, name) NULLS NOT DISTINCT;

-- Webhooks. The dispatcher disables a webhook whose receiver answers 410.
CREATE TABLE webhooks (
  id uuid NOT NULL,
  tenant_id uuid,
  url text NOT NULL,
  events text[],
  secret_sealed text NOT NULL,
  enabled boolean DEFAULT true NOT NULL,
  disabled_reason text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  consecutive_timeouts integer DEFAULT 0 NOT NULL,
  CONSTRAINT webhooks_pkey PRIMARY KEY (id),
  CONSTRAINT webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX webhooks_created_at_id_idx ON webhooks (created_at DESC, id DESC);

-- ── Deployments (owner: dispatcher) ─────────────────────────────────────────────────────────────────────────────────

-- Deployments, with the head of their plan. The rows of the plan are in deployment_actions, deployment_targets and steps.
CREATE TABLE deployments (
  id uuid NOT NULL,
  state deployment_state NOT NULL,
  tenant_id uuid,
  tenant_name text,
  environment_id uuid,
  environment_name text,
  source_type source_kind NOT NULL,
  source_id uuid NOT NULL,
  source_name text NOT NULL,
  source_version text NOT NULL,
  plan_head jsonb NOT NULL,
  selection jsonb NOT NULL,
  total_steps integer NOT NULL,
  triggered_by text,
  triggered_by_id uuid,
  request_id text,
  source_deployment_id uuid,
  freeze_override text,
  cancel_reason text,
  error_message text,
  analysis_enabled boolean DEFAULT true NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  deadline_at timestamptz(3),
  traceparent text,
  warnings jsonb DEFAULT '[]'::jsonb NOT NULL,
  cancelled_by text,
  is_check boolean DEFAULT false NOT NULL,
  locks_targets boolean DEFAULT false NOT NULL,
  lockable boolean GENERATED ALWAYS AS (true) STORED,
  variant text,
  CONSTRAINT deployments_pkey PRIMARY KEY (id),
  CONSTRAINT deployments_completed_when_final
    CHECK ((completed_at IS NOT NULL) = (state IN ('success', 'failed', 'cancelled', 'rolled_back')))
);
-- The indexes of lists hold all columns that the order and row-level security need, so a page reads no table.
CREATE INDEX deployments_created_at_id_tenant_id_idx ON deployments (created_at DESC, id DESC, tenant_id);
CREATE INDEX deployments_environment_id_created_at_id_idx ON deployments (environment_id, created_at DESC, id DESC);
CREATE INDEX deployments_source_id_created_at_id_tenant_id_source_type_idx
  ON deployments (source_id, created_at DESC, id DESC, tenant_id, source_type);
CREATE INDEX deployments_source_name_created_at_id_tenant_id_idx ON deployments (source_name, created_at DESC, id DESC, tenant_id);
CREATE INDEX deployments_source_version_created_at_id_tenant_id_idx
  ON deployments (source_version, created_at DESC, id DESC, tenant_id);
CREATE INDEX deployments_tenant_id_created_at_id_idx ON deployments (tenant_id, created_at DESC, id DESC);
CREATE INDEX deployments_triggered_by_created_at_id_tenant_id_idx
  ON deployments (triggered_by, created_at DESC, id DESC, tenant_id);
-- Each state and each kind of source has an index of its own. Row-level security forbids an index on the state: comparing enums
-- is not leakproof.
CREATE INDEX deployments_pending ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'pending';
CREATE INDEX deployments_queued ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'queued';
CREATE INDEX deployments_running ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'running';
CREATE INDEX deployments_success ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'success';
CREATE INDEX deployments_failed ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'failed';
CREATE INDEX deployments_cancelled ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'cancelled';
CREATE INDEX deployments_rolling_back ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'rolling_back';
CREATE INDEX deployments_rolled_back ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE state = 'rolled_back';
CREATE INDEX deployments_of_actions ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE source_type = 'action';
CREATE INDEX deployments_of_sequences ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE source_type = 'sequence';
CREATE INDEX deployments_of_solutions ON deployments (created_at DESC, id DESC) INCLUDE (tenant_id) WHERE source_type = 'solution';
-- Few checks exist at a time. Lists leave them out by this index.
CREATE INDEX deployments_checks ON deployments (id) WHERE is_check;
CREATE INDEX deployments_deadline ON deployments (deadline_at) WHERE (completed_at IS NULL) AND (deadline_at IS NOT NULL);
-- How many deployments of a tenant run.
CREATE INDEX deployments_running_by_tenant ON deployments (tenant_id) WHERE completed_at IS NULL;

-- Every name of a source that was deployed. Searches read this table and not all deployments.
CREATE TABLE deployment_names (
  id bigserial,
  tenant_id uuid,
  source_name text NOT NULL,
  CONSTRAINT deployment_names_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX deployment_names_source_name_tenant_id_key ON deployment_names (source_name, tenant_id) NULLS NOT DISTINCT;

-- Differences in the number of deployments by the filters of lists. The sum of a kind is its exact number
-- (docs/decisions/0020-exact-totals.md). Many short-lived rows: vacuum by number, not by share.
CREATE TABLE deployment_counts (
  id bigserial,
  tenant_id uuid,
  environment_id uuid,
  source_type source_kind NOT NULL,
  state deployment_state NOT NULL,
  count integer NOT NULL,
  folded boolean DEFAULT false NOT NULL,
  CONSTRAINT deployment_counts_pkey PRIMARY KEY (id)
) WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');

-- Deployments that retention deleted, whose steps, results and lines are still to be deleted.
CREATE TABLE dropped_deployments (
  id uuid NOT NULL,
  lockable boolean GENERATED ALWAYS AS (true) STORED,
  CONSTRAINT dropped_deployments_pkey PRIMARY KEY (id)
);

-- The actions of a plan, in order.
CREATE TABLE deployment_actions (
  deployment_id uuid NOT NULL,
  action_index integer NOT NULL,
  sequence_id uuid NOT NULL,
  sequence_name text NOT NULL,
  sequence_version text NOT NULL,
  sequence_order integer NOT NULL,
  action_id uuid NOT NULL,
  action_name text NOT NULL,
  action_version text NOT NULL,
  action_order integer NOT NULL,
  timeout_seconds integer NOT NULL,
  max_retries integer NOT NULL,
  has_rollback boolean NOT NULL,
  variables jsonb NOT NULL,
  CONSTRAINT deployment_actions_pkey PRIMARY KEY (deployment_id, action_index),
  CONSTRAINT deployment_actions_deployment_id_fkey FOREIGN KEY (deployment_id)
    REFERENCES deployments(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX deployment_actions_action_id_idx ON deployment_actions (action_id);

-- The targets of a plan, in order.
CREATE TABLE deployment_targets (
  deployment_id uuid NOT NULL,
  target_index integer NOT NULL,
  target_id uuid NOT NULL,
  target_name text NOT NULL,
  variables jsonb NOT NULL,
  values_hash text,
  CONSTRAINT deployment_targets_pkey PRIMARY KEY (deployment_id, target_index),
  CONSTRAINT deployment_targets_deployment_id_fkey FOREIGN KEY (deployment_id)
    REFERENCES deployments(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX deployment_targets_target_id_idx ON deployment_targets (target_id);

-- A release is the part of a deployment on one target, from the start of its first command. It outlives its deployment while it
-- is in force.
CREATE TABLE releases (
  deployment_id uuid NOT NULL,
  target_id uuid NOT NULL,
  tenant_id uuid,
  environment_id uuid,
  source_type source_kind NOT NULL,
  source_id uuid NOT NULL,
  source_name text NOT NULL,
  source_version text NOT NULL,
  values_hash text,
  state release_state NOT NULL,
  triggered_by text,
  begun_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  replaced_deployment_id uuid,
  variant text,
  CONSTRAINT releases_pkey PRIMARY KEY (deployment_id, target_id)
);
-- The release in force: the one with the latest end among those that are applied.
CREATE INDEX releases_applied ON releases (target_id, source_id, ended_at DESC, deployment_id DESC) WHERE state = 'applied';
CREATE INDEX releases_target_id_source_id_begun_at_deployment_id_idx
  ON releases (target_id, source_id, begun_at DESC, deployment_id DESC);

-- For each source on a target: the release in force and the latest attempt.
CREATE TABLE release_heads (
  target_id uuid NOT NULL,
  source_id uuid NOT NULL,
  current_deployment_id uuid,
  latest_deployment_id uuid,
  CONSTRAINT release_heads_pkey PRIMARY KEY (target_id, source_id)
);
CREATE INDEX release_heads_source_id_idx ON release_heads (source_id);

-- Whether what is in force on a target is still as its deployment left it.
CREATE TABLE release_checks (
  target_id uuid NOT NULL,
  source_id uuid NOT NULL,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  deployment_id uuid,
  interval_seconds integer,
  next_at timestamptz(3),
  requested boolean DEFAULT false NOT NULL,
  run_id uuid,
  result text,
  checked_at timestamptz(3),
  message text,
  drifted_since timestamptz(3),
  told_drifted boolean DEFAULT false NOT NULL,
  CONSTRAINT release_checks_pkey PRIMARY KEY (target_id, source_id),
  CONSTRAINT release_checks_target_id_source_id_fkey FOREIGN KEY (target_id, source_id)
    REFERENCES release_heads(target_id, source_id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX release_checks_deployment_id_idx ON release_checks (deployment_id);
-- The checks that are due, that run, that need a time, and whose result was not told yet.
CREATE INDEX release_checks_due ON release_checks (next_at) WHERE (run_id IS NULL) AND (deployment_id IS NOT NULL);
CREATE UNIQUE INDEX release_checks_id_key ON release_checks (id);
CREATE INDEX release_checks_running ON release_checks (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX release_checks_unscheduled ON release_checks (interval_seconds)
  WHERE (next_at IS NULL) AND (deployment_id IS NOT NULL);
CREATE INDEX release_checks_untold ON release_checks (id) WHERE (drifted_since IS NOT NULL) <> told_drifted;

-- The states that a deployment passed through. The first row has no `from_state`.
CREATE TABLE deployment_transitions (
  deployment_id uuid NOT NULL,
  number integer NOT NULL,
  from_state deployment_state,
  to_state deployment_state NOT NULL,
  message text NOT NULL,
  at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT deployment_transitions_pkey PRIMARY KEY (deployment_id, number),
  CONSTRAINT deployment_transitions_deployment_id_fkey FOREIGN KEY (deployment_id)
    REFERENCES deployments(id) ON UPDATE CASCADE ON DELETE CASCADE
);

-- Requests that wait for a slot, a target or the end of a freeze, with the whole plan in `command`.
CREATE TABLE pending_requests (
  id uuid NOT NULL,
  status pending_status DEFAULT 'pending' NOT NULL,
  priority integer NOT NULL,
  tenant_id uuid,
  tenant_name text,
  environment_id uuid,
  environment_name text,
  triggered_by text,
  command jsonb NOT NULL,
  request_id text,
  queued_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  retry_count integer DEFAULT 0 NOT NULL,
  last_retry_at timestamptz(3),
  error_message text,
  deployment_id uuid,
  dispatched_at timestamptz(3),
  dispatched_to_instance_id uuid,
  rank bigint DEFAULT 0 NOT NULL,
  traceparent text,
  freeze_subject jsonb NOT NULL,
  freeze_key uuid NOT NULL,
  source_type source_kind NOT NULL,
  source_id uuid NOT NULL,
  source_name text NOT NULL,
  source_version text NOT NULL,
  target_count integer NOT NULL,
  instance_selector jsonb,
  pool_key uuid,
  wants_targets boolean DEFAULT false NOT NULL,
  superseded_by uuid,
  first_targets jsonb NOT NULL,
  lockable boolean GENERATED ALWAYS AS (true) STORED,
  step_count integer DEFAULT 0 NOT NULL,
  CONSTRAINT pending_requests_pkey PRIMARY KEY (id)
);
-- The place of a request in its pool.
CREATE INDEX pending_requests_by_pool ON pending_requests (pool_key, rank, id)
  WHERE (status = 'pending') AND (pool_key IS NOT NULL);
-- The first requests of each group that freezes and pools treat alike.
CREATE INDEX pending_requests_by_subject ON pending_requests (freeze_key, rank, id) WHERE status = 'pending';
-- The queue. Its order is the rank (docs/decisions/0023-queue-by-rank.md).
CREATE INDEX pending_requests_queue ON pending_requests (rank, id) INCLUDE (tenant_id) WHERE status = 'pending';
CREATE INDEX pending_requests_recent ON pending_requests (status, queued_at DESC);
-- Ten thousand requests that wait for one target do not hide requests that need no lock.
CREATE INDEX pending_requests_without_locks ON pending_requests (rank, id) WHERE (status = 'pending') AND (NOT wants_targets);

-- One row with the settings of the queue. Dispatchers write it when they start, and all services read the same values.
CREATE TABLE queue_settings (
  id integer DEFAULT 1 NOT NULL,
  tenant_running_limit integer,
  analysis_enabled boolean DEFAULT true NOT NULL,
  target_concurrency target_concurrency DEFAULT 'allow' NOT NULL,
  CONSTRAINT queue_settings_pkey PRIMARY KEY (id),
  CONSTRAINT queue_settings_one CHECK (id = 1)
);
INSERT INTO queue_settings DEFAULT VALUES;

-- A lease gives a slot of an instance to a deployment under an epoch. Epochs only rise (fencing tokens).
CREATE TABLE leases (
  epoch bigserial,
  instance_id uuid NOT NULL,
  slot integer NOT NULL,
  deployment_id uuid NOT NULL,
  acquired_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  ended_at timestamptz(3),
  end_reason text,
  stopped_at timestamptz(3),
  lockable boolean GENERATED ALWAYS AS (true) STORED,
  CONSTRAINT leases_pkey PRIMARY KEY (epoch)
);
CREATE INDEX leases_deployment_id_idx ON leases (deployment_id);
-- A deployment has one live lease, and a slot is leased once.
CREATE UNIQUE INDEX leases_live_deployment ON leases (deployment_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX leases_live_slot ON leases (instance_id, slot) WHERE ended_at IS NULL;
-- Deployments whose instance was lost wait for another instance.
CREATE INDEX leases_lost ON leases (deployment_id, epoch) WHERE end_reason = 'lost';

-- The lock of a target: one row that is updated in place, without an index entry to write
-- (docs/decisions/0063-one-deployment-per-target.md). Without deployment_id nothing holds it. The fill factor leaves room for
-- the next version of each row.
CREATE TABLE target_locks (
  target_id uuid NOT NULL,
  deployment_id uuid,
  epoch bigint,
  taken_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT target_locks_pkey PRIMARY KEY (target_id)
) WITH (fillfactor='50');

-- The targets that a pending request locks when it starts.
CREATE TABLE pending_targets (
  request_id uuid NOT NULL,
  target_id uuid NOT NULL,
  rank bigint NOT NULL,
  CONSTRAINT pending_targets_pkey PRIMARY KEY (request_id, target_id)
);
CREATE INDEX pending_targets_queue ON pending_targets (target_id, rank, request_id);

-- ── Webhook deliveries (owner: dispatcher) ──────────────────────────────────────────────────────────────────────────

-- An event for a webhook, until it is delivered or given up, and some days longer.
CREATE TABLE webhook_deliveries (
  id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  tenant_id uuid,
  message_id uuid NOT NULL,
  event text NOT NULL,
  payload text NOT NULL,
  status webhook_delivery_status DEFAULT 'pending' NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  next_attempt_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  claim uuid,
  last_attempt_at timestamptz(3),
  delivered_at timestamptz(3),
  response_status integer,
  response_body text,
  error text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id)
    REFERENCES webhooks(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries (webhook_id) WHERE claim IS NOT NULL;
CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_webhook_id_created_at_id_idx ON webhook_deliveries (webhook_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX webhook_deliveries_webhook_id_message_id_key ON webhook_deliveries (webhook_id, message_id);

-- ── Steps (inserted and closed by the dispatcher, moved by the executor-bridge under a live lease) ──────────────────

-- The steps of a plan: one for each target and action. The fill factor leaves room for the next states of a step on its page.
CREATE TABLE steps (
  deployment_id uuid NOT NULL,
  target_index integer NOT NULL,
  action_index integer NOT NULL,
  state step_state DEFAULT 'pending'::step_state NOT NULL,
  retry_count integer DEFAULT 0 NOT NULL,
  ever_failed boolean DEFAULT false NOT NULL,
  exit_code integer,
  error_message text,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  end_confirmed boolean,
  attempt_started_at timestamptz(3),
  failure_reason text,
  dropped_lines integer,
  CONSTRAINT steps_pkey PRIMARY KEY (deployment_id, target_index, action_index)
) WITH (fillfactor='70');

-- ── What ran (owner: executor-bridge) ───────────────────────────────────────────────────────────────────────────────

-- Orchestration instances, by hash of their credentials.
CREATE TABLE instances (
  id uuid NOT NULL,
  name text NOT NULL,
  version text NOT NULL,
  capacity integer NOT NULL,
  labels jsonb DEFAULT '{}'::jsonb NOT NULL,
  draining boolean DEFAULT false NOT NULL,
  credential_hash text NOT NULL,
  enrolled_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  last_heartbeat_at timestamptz(3),
  enrolled_labels jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  removed_at timestamptz(3),
  tenant_id uuid,
  allowed_labels jsonb DEFAULT '{}'::jsonb NOT NULL,
  next_credential_hash text,
  former_credential_hash text,
  former_credential_until timestamptz(3),
  grant_id uuid,
  service_account text,
  join_key_hash text,
  accepts_runs boolean DEFAULT true NOT NULL,
  name_key text,
  CONSTRAINT instances_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX instances_name_key ON instances (name);
CREATE UNIQUE INDEX instances_name_key_unique ON instances (name_key) WHERE name_key IS NOT NULL;

-- A grant lets instances join. The gateway creates it, and the executor-bridge counts its uses.
CREATE TABLE instance_grants (
  id uuid NOT NULL,
  token_hash text NOT NULL,
  uses integer NOT NULL,
  used integer DEFAULT 0 NOT NULL,
  labels jsonb DEFAULT '{}'::jsonb NOT NULL,
  tenant_id uuid,
  expires_at timestamptz(3) NOT NULL,
  created_by uuid,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT instance_grants_pkey PRIMARY KEY (id),
  CONSTRAINT instance_grants_used_check CHECK ((used >= 0) AND (used <= uses)),
  CONSTRAINT instance_grants_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX instance_grants_created_at_id_idx ON instance_grants (created_at DESC, id DESC);

-- One row for each deployment that an instance can run at a time. A lease needs a slot, so the database refuses more.
CREATE TABLE instance_slots (
  instance_id uuid NOT NULL,
  slot integer NOT NULL,
  retired boolean DEFAULT false NOT NULL,
  lockable boolean GENERATED ALWAYS AS (true) STORED,
  CONSTRAINT instance_slots_pkey PRIMARY KEY (instance_id, slot),
  CONSTRAINT instance_slots_instance_id_fkey FOREIGN KEY (instance_id)
    REFERENCES instances(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
ALTER TABLE leases ADD CONSTRAINT leases_instance_id_slot_fkey
  FOREIGN KEY (instance_id, slot) REFERENCES instance_slots(instance_id, slot) ON UPDATE CASCADE ON DELETE RESTRICT;

-- How far a run is. Its row is the lock under which batches of events are applied.
CREATE TABLE run_progress (
  deployment_id uuid NOT NULL,
  epoch bigint NOT NULL,
  next_event bigint DEFAULT 0 NOT NULL,
  next_line bigint DEFAULT 0 NOT NULL,
  ended_steps integer DEFAULT 0 NOT NULL,
  completed_steps integer DEFAULT 0 NOT NULL,
  failed_steps integer DEFAULT 0 NOT NULL,
  updated_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  finished_at timestamptz(3),
  tenant_id uuid,
  finished_outcome text,
  finished_error text,
  rolling_back boolean DEFAULT false NOT NULL,
  finished_reason text,
  line_offset bigint DEFAULT 0 NOT NULL,
  log_bytes bigint DEFAULT 0 NOT NULL,
  log_day date,
  log_day_bytes bigint DEFAULT 0 NOT NULL,
  dropping text,
  CONSTRAINT run_progress_pkey PRIMARY KEY (deployment_id)
);
CREATE INDEX run_progress_log_day_tenant_id_idx ON run_progress (log_day, tenant_id);

-- The last attempt of each command on a target.
CREATE TABLE command_results (
  deployment_id uuid NOT NULL,
  target_index integer NOT NULL,
  action_index integer NOT NULL,
  status text NOT NULL,
  exit_code integer,
  stdout_tail text NOT NULL,
  stderr_tail text NOT NULL,
  error_message text,
  analysis jsonb,
  started_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3) NOT NULL,
  CONSTRAINT command_results_pkey PRIMARY KEY (deployment_id, target_index, action_index)
);
-- Retention looks for old results. They come in the order of time, so a BRIN index of few pages is enough.
CREATE INDEX command_results_completed_at_idx ON command_results USING brin (completed_at);

-- Log lines, one row for each batch, in a partition for each day (UTC). Retention drops whole partitions. Lines of a day
-- without partition go to log_chunks_default.
CREATE TABLE log_chunks (
  deployment_id uuid NOT NULL,
  first_line bigint NOT NULL,
  line_count integer NOT NULL,
  lines jsonb NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT log_chunks_pkey PRIMARY KEY (deployment_id, first_line, created_at)
) PARTITION BY RANGE (created_at);
CREATE TABLE log_chunks_default PARTITION OF log_chunks DEFAULT;

-- What is known about a target from connections to it.
CREATE TABLE target_facts (
  target_id uuid NOT NULL,
  host_key text,
  last_seen_at timestamptz(3),
  missed_by uuid,
  next_probe_at timestamptz(3),
  probe_by uuid,
  told_status text,
  asked_of uuid,
  last_error text,
  failing_since timestamptz(3),
  CONSTRAINT target_facts_pkey PRIMARY KEY (target_id)
);

-- The agent of a target: its address, and the key by which instance and agent recognise each other.
CREATE TABLE agents (
  id uuid NOT NULL,
  target_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  version text NOT NULL,
  key_sealed text NOT NULL,
  credential_hash text NOT NULL,
  enrolled_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT agents_pkey PRIMARY KEY (id),
  CONSTRAINT agents_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES agent_grants(id) ON UPDATE CASCADE ON DELETE CASCADE,
  CONSTRAINT agents_target_id_fkey FOREIGN KEY (target_id) REFERENCES targets(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX agents_grant_id_key ON agents (grant_id);
CREATE UNIQUE INDEX agents_target_id_key ON agents (target_id);

-- ── Messages (each service inserts and relays) ──────────────────────────────────────────────────────────────────────

-- Messages of committed changes that RabbitMQ has not confirmed yet.
CREATE TABLE outbox (
  id bigserial,
  message_id uuid NOT NULL,
  exchange text NOT NULL,
  type text NOT NULL,
  body jsonb NOT NULL,
  request_id text,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  traceparent text,
  lockable boolean GENERATED ALWAYS AS (true) STORED,
  CONSTRAINT outbox_pkey PRIMARY KEY (id)
);

-- Events that some webhook subscribes to, until a dispatcher has made deliveries of them.
CREATE TABLE webhook_events (
  message_id uuid NOT NULL,
  tenant_id uuid,
  event text NOT NULL,
  kind text NOT NULL,
  record_id uuid NOT NULL,
  shared boolean NOT NULL,
  gone boolean NOT NULL,
  happened_at timestamptz(3) NOT NULL,
  due_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  failures integer DEFAULT 0 NOT NULL,
  CONSTRAINT webhook_events_pkey PRIMARY KEY (message_id)
);

-- ── Functions over leases, locks and the queue ──────────────────────────────────────────────────────────────────────

-- Whether the lock of a target holds. It holds as long as one of these is true:
--   - its lease is live,
--   - its instance was lost, and the deployment waits for another instance,
--   - its deployment was stopped, and the instance has not confirmed yet that the command on the target has ended. An instance that
--     is cut off kills its commands within 30 seconds.
--
-- VOLATILE: a statement that waited for the lock sees the lease of the deployment that took it.
CREATE FUNCTION target_lock_holds(of_epoch bigint, of_deployment uuid) RETURNS boolean LANGUAGE plpgsql
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM leases l
     WHERE l.epoch = of_epoch AND (
       l.ended_at IS NULL
       OR (l.end_reason = 'lost'
           AND NOT EXISTS (SELECT FROM deployments d WHERE d.id = of_deployment AND d.completed_at IS NOT NULL))
       OR (l.end_reason IN ('cancelled', 'overdue') AND l.stopped_at IS NULL AND l.ended_at > now() - interval '30 seconds')));
END $$;

-- The place of one request in the queue. A tenant sees only its own requests, so the function counts those of all tenants.
CREATE FUNCTION waiting_position(of_rank bigint, of_id uuid) RETURNS bigint LANGUAGE plpgsql
AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  place bigint;
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT count(*) INTO place FROM pending_requests r
   WHERE r.status = 'pending' AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id));
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN place;
END $$;

-- The place of one request in its pool, in the same way.
CREATE FUNCTION waiting_pool_position(of_pool uuid, of_rank bigint, of_id uuid) RETURNS bigint LANGUAGE plpgsql
AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  place bigint;
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  IF of_pool IS NULL THEN
    SELECT (SELECT count(*) FROM pending_requests r
             WHERE r.status = 'pending' AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id)))
         - (SELECT count(*) FROM pending_requests r
             WHERE r.status = 'pending' AND r.pool_key IS NOT NULL
               AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id)))
      INTO place;
  ELSE
    SELECT count(*) INTO place FROM pending_requests r
     WHERE r.status = 'pending' AND r.pool_key = of_pool AND (r.rank < of_rank OR (r.rank = of_rank AND r.id <= of_id));
  END IF;
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN place;
END $$;

-- The place of each pending request in the queue, and in its pool.
CREATE FUNCTION waiting_places() RETURNS TABLE(id uuid, "position" bigint, pool_position bigint) LANGUAGE plpgsql
AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  RETURN QUERY
    SELECT r.id, row_number() OVER w,
           coalesce(pooled.place, row_number() OVER w - count(pooled.place) OVER w)
      FROM pending_requests r
      LEFT JOIN (SELECT p.id, row_number() OVER (PARTITION BY p.pool_key ORDER BY p.rank, p.id) AS place
                   FROM pending_requests p WHERE p.status = 'pending' AND p.pool_key IS NOT NULL) pooled ON pooled.id = r.id
     WHERE r.status = 'pending'
    WINDOW w AS (ORDER BY r.rank, r.id);
  PERFORM set_config('slipway.tenant', tenant, true);
END $$;

-- ── Guards of the audit log ─────────────────────────────────────────────────────────────────────────────────────────

-- No role updates a record or a link of the audit log, not even the owner of the tables.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_records_append_only BEFORE UPDATE OR TRUNCATE ON audit_records
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_links_append_only BEFORE UPDATE OR TRUNCATE ON audit_links
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The position up to which retention has deleted the audit log. The log itself has a record of it, and the chain covers this
-- record.
CREATE FUNCTION audit_dropped() RETURNS bigint LANGUAGE plpgsql STABLE
AS $$
BEGIN
  RETURN (SELECT coalesce(max((details ->> 'position')::bigint), 0) FROM audit_records WHERE action = 'audit.drop');
END $$;

-- A record is deleted only if its link is at or before that position.
CREATE FUNCTION refuse_record_removal() RETURNS trigger LANGUAGE plpgsql
AS $$
DECLARE
  dropped bigint := audit_dropped();
BEGIN
  IF EXISTS (SELECT FROM removed r LEFT JOIN audit_links l ON l.record_number = r.number
              WHERE l.position IS NULL OR l.position > dropped) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_records_removal AFTER DELETE ON audit_records
  REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_record_removal();

-- A link is deleted only at or before that position. `drop_audit` never drops the last link.
CREATE FUNCTION refuse_link_removal() RETURNS trigger LANGUAGE plpgsql
AS $$
DECLARE
  dropped bigint := audit_dropped();
BEGIN
  IF EXISTS (SELECT FROM removed WHERE position > dropped) THEN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER audit_links_removal AFTER DELETE ON audit_links
  REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_link_removal();

-- Retention deletes the audit log up to a position of its chain. The record that it leaves says where the chain begins from
-- then on. Returns the number of deleted records.
CREATE FUNCTION drop_audit(up_to bigint, older_than_days integer) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  head audit_links%ROWTYPE;
  records bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('slipway.audit_drop'));
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT * INTO head FROM audit_links WHERE position = "up_to" AND position < (SELECT max(position) FROM audit_links);
  IF NOT FOUND THEN
    RAISE EXCEPTION 'drop_audit: % is no position before the last one of the chain', "up_to"
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF coalesce("older_than_days", 0) < 1
     OR EXISTS (SELECT FROM audit_links l JOIN audit_records r ON r.number = l.record_number
                 WHERE l.position <= "up_to" AND r.at >= now() - make_interval(days => "older_than_days")) THEN
    RAISE EXCEPTION 'drop_audit: a record up to position % is not % days old', "up_to", "older_than_days"
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT count(*) INTO records FROM audit_links WHERE position <= "up_to";
  INSERT INTO audit_records (id, action, resource_type, details)
  VALUES (gen_random_uuid(), 'audit.drop', 'audit', jsonb_build_object(
    'position', head.position, 'hash', head.hash, 'records', records, 'older_than_days', "older_than_days"));
  DELETE FROM audit_records r USING audit_links l WHERE l.record_number = r.number AND l.position <= "up_to";
  DELETE FROM audit_links WHERE position <= "up_to";
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN records;
END $$;

-- ── Partitions of log lines ─────────────────────────────────────────────────────────────────────────────────────────

-- No service owns tables. These functions run with the rights of the owner, with a fixed search_path, and check their conditions
-- themselves, whatever the caller asks for.

-- Makes the log partition of one day (UTC). When log_chunks_default has rows of the day, CREATE TABLE … PARTITION OF fails, so
-- this function moves the rows into the new partition first.
--
-- Writers and readers of log_chunks wait while rows move (54 MiB take 2.3 s on two busy cores). So a day with more than 10,000
-- rows or 64 MiB stays in log_chunks_default ('left'). Its lines are complete there, and retention deletes them from there.
--
-- The new table of a day ahead is attached: ATTACH PARTITION lets writers of other partitions go on, and CREATE TABLE …
-- PARTITION OF does not. A lock that is not free within one second fails the call, and the caller tries again later.
--
-- Result: 'exists'; 'created'; 'moved' (created, with rows from log_chunks_default); 'left'; 'busy' (another process is at
-- work).
CREATE FUNCTION ensure_log_partition(day date) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
  SET lock_timeout = '1s'
AS $_$
DECLARE
  partition text := 'log_chunks_' || to_char("day", 'YYYYMMDD');
  first timestamptz := "day"::timestamp AT TIME ZONE 'UTC';
  next timestamptz := ("day" + 1)::timestamp AT TIME ZONE 'UTC';
  waiting bigint;
  bytes bigint;
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
BEGIN
  IF "day" > (now() AT TIME ZONE 'UTC')::date + 31 THEN
    RAISE EXCEPTION 'ensure_log_partition: % is more than 31 days ahead; ask for an earlier day', "day"
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('slipway.log_partitions')) THEN
    RETURN 'busy';
  END IF;
  IF EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
              WHERE i.inhparent = 'log_chunks'::regclass AND c.relname = partition) THEN
    RETURN 'exists';
  END IF;

  -- The rows of every tenant move. A failure undoes this setting, too.
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT count(*), coalesce(sum(pg_column_size(lines)), 0) INTO waiting, bytes
    FROM log_chunks_default WHERE created_at >= first AND created_at < next;
  IF waiting > 10000 OR bytes > 64 * 1024 * 1024 THEN
    PERFORM set_config('slipway.tenant', tenant, true);
    RETURN 'left';
  END IF;

  EXECUTE format('CREATE TABLE %I (LIKE log_chunks INCLUDING ALL)', partition);
  -- With this constraint, ATTACH PARTITION does not read the new table again.
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT one_day CHECK (created_at >= %L AND created_at < %L)', partition, first, next);
  -- The table before its partition: dropping a partition locks in this order, too.
  IF "day" > (now() AT TIME ZONE 'UTC')::date AND waiting = 0 THEN
    LOCK TABLE ONLY log_chunks IN SHARE UPDATE EXCLUSIVE MODE;
  ELSE
    -- A writer that waits for log_chunks_default itself fails when its row belongs into the new partition. This lock makes such
    -- writers wait before they choose a partition.
    LOCK TABLE ONLY log_chunks IN ACCESS EXCLUSIVE MODE;
  END IF;
  LOCK TABLE log_chunks_default IN ACCESS EXCLUSIVE MODE;
  EXECUTE format('INSERT INTO %I SELECT * FROM log_chunks_default WHERE created_at >= %L AND created_at < %L', partition, first, next);
  GET DIAGNOSTICS waiting = ROW_COUNT;
  DELETE FROM log_chunks_default WHERE created_at >= first AND created_at < next;
  EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', partition);
  EXECUTE format($policy$CREATE POLICY "everything" ON %I USING ((SELECT current_setting('slipway.tenant', true)) = '*')$policy$, partition);
  EXECUTE format('ALTER TABLE log_chunks ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition, first, next);
  EXECUTE format('ALTER TABLE %I DROP CONSTRAINT one_day', partition);
  PERFORM set_config('slipway.tenant', tenant, true);
  RETURN CASE WHEN waiting > 0 THEN 'moved' ELSE 'created' END;
END $_$;

-- Retention drops the log lines of a day. Returns false if the day has no partition.
CREATE FUNCTION drop_log_partition(day date, older_than_days integer) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
  SET lock_timeout = '1s'
AS $$
DECLARE
  partition text := 'log_chunks_' || to_char("day", 'YYYYMMDD');
  tenant text := coalesce(current_setting('slipway.tenant', true), '');
  oldest timestamptz;
BEGIN
  PERFORM set_config('slipway.tenant', '*', true);
  SELECT min(created_at) INTO oldest FROM deployments WHERE completed_at IS NULL;
  PERFORM set_config('slipway.tenant', tenant, true);
  IF coalesce("older_than_days", 0) < 1 OR "day" IS NULL
     OR ("day" + 1)::timestamp AT TIME ZONE 'UTC' > least(now() - make_interval(days => "older_than_days"), oldest) THEN
    RAISE EXCEPTION 'drop_log_partition: % did not end % days ago, or a deployment from before its end still runs', "day", "older_than_days"
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                  WHERE i.inhparent = 'log_chunks'::regclass AND c.relname = partition) THEN
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE %I', partition);
  RETURN true;
END $$;

-- ── Row-level security ──────────────────────────────────────────────────────────────────────────────────────────────

-- The second guard between tenants, behind the conditions of the queries (docs/decisions/0019-row-level-security.md).
--
-- Each connection has the setting `slipway.tenant`. `*` sees all rows. The id of a tenant sees the rows of this tenant and, where
-- records may be shared, those without tenant. An empty setting sees nothing. FORCE applies the policies to the owner of the
-- tables, too. The setting is read in a sub-select: once for each statement, not for each row.

-- Records of a tenant, or shared by all. A tenant reads shared records and does not write them.
ALTER TABLE environments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON environments USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY shared ON environments FOR SELECT USING (
  tenant_id IS NULL AND ((SELECT coalesce(current_setting('slipway.tenant', true), '')) <> ''));
ALTER TABLE targets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON targets USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY shared ON targets FOR SELECT USING (
  tenant_id IS NULL AND ((SELECT coalesce(current_setting('slipway.tenant', true), '')) <> ''));
ALTER TABLE sources ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON sources USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY shared ON sources FOR SELECT USING (
  tenant_id IS NULL AND ((SELECT coalesce(current_setting('slipway.tenant', true), '')) <> ''));
ALTER TABLE freezes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON freezes USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY shared ON freezes FOR SELECT USING (
  tenant_id IS NULL AND ((SELECT coalesce(current_setting('slipway.tenant', true), '')) <> ''));

-- Records of one tenant, never shared. The condition of deployments is in the sub-select as a whole: Postgres then expects that half
-- of the rows are visible, and reads a page of a list by its index.
ALTER TABLE users ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON users USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhooks USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE deployments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deployments USING (
  (SELECT current_setting('slipway.tenant', true) = '*')
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE deployment_names ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deployment_names USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE deployment_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deployment_counts USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE releases ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON releases USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE pending_requests ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON pending_requests USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhook_deliveries USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE run_progress ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON run_progress USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
ALTER TABLE webhook_events ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON webhook_events USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));

-- Everybody adds audit records, also before it is known who calls. Adding shows nothing.
ALTER TABLE audit_records ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON audit_records USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY append ON audit_records FOR INSERT WITH CHECK (true);

-- Rows that are visible with the record that they belong to. Functions, because only connections of one tenant call them. Postgres
-- would plan a sub-select on the record in every statement of services that see all tenants.

CREATE FUNCTION sees_deployment(record uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM deployments WHERE id = record);
END $$;

CREATE FUNCTION sees_target(record uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM targets WHERE id = record);
END $$;

CREATE FUNCTION sees_source(record uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM sources WHERE id = record);
END $$;

CREATE FUNCTION sees_user(record uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM users WHERE id = record);
END $$;

CREATE FUNCTION sees_upload(record uuid) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM contents WHERE upload_id = record);
END $$;

CREATE FUNCTION sees_content(record text) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
  RETURN EXISTS (SELECT FROM source_contents WHERE content_id = record)
    OR EXISTS (SELECT FROM content_uploaders WHERE content_id = record);
END $$;

ALTER TABLE user_roles ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON user_roles USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON sessions USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE refresh_tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON refresh_tokens USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE recovery_codes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON recovery_codes USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE wrong_codes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON wrong_codes USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON api_keys USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON idempotency_keys USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE target_tags ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON target_tags USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_target(target_id));
ALTER TABLE agent_grants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON agent_grants USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_target(target_id));
ALTER TABLE source_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON source_versions USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_source(source_id));
ALTER TABLE sensitive_names ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON sensitive_names USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_source(source_id));
ALTER TABLE contents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON contents FOR SELECT USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_content(id));
CREATE POLICY store ON contents USING ((SELECT current_setting('slipway.tenant', true)) = '*');
ALTER TABLE content_chunks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON content_chunks FOR SELECT USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR sees_upload(upload_id));
CREATE POLICY store ON content_chunks USING ((SELECT current_setting('slipway.tenant', true)) = '*');
ALTER TABLE content_uploaders ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON content_uploaders USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));
ALTER TABLE source_contents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON source_contents USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_source(source_id));
ALTER TABLE deployment_actions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deployment_actions USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR sees_deployment(deployment_id));
ALTER TABLE deployment_targets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deployment_targets USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR sees_deployment(deployment_id));
ALTER TABLE deployment_transitions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON deployment_transitions USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR sees_deployment(deployment_id));
ALTER TABLE steps ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON steps USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_deployment(deployment_id));
ALTER TABLE command_results ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON command_results USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR sees_deployment(deployment_id));
ALTER TABLE log_chunks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON log_chunks USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_deployment(deployment_id));
ALTER TABLE target_facts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON target_facts USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_target(target_id));
ALTER TABLE agents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON agents USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_target(target_id));

-- Rows that belong to a target. A sub-select, because a call of sees_target for each of 100,000 rows takes seconds.
ALTER TABLE release_heads ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON release_heads USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR target_id IN (SELECT id FROM targets));
ALTER TABLE release_checks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON release_checks USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR target_id IN (SELECT id FROM targets));
ALTER TABLE target_locks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON target_locks USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR target_id IN (SELECT id FROM targets));
ALTER TABLE pending_targets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON pending_targets USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR target_id IN (SELECT id FROM targets));

-- The content store acts for all tenants. A tenant sees what its own users uploaded last.
ALTER TABLE content_uploads ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY store ON content_uploads USING ((SELECT current_setting('slipway.tenant', true)) = '*');
ALTER TABLE content_tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON content_tenants FOR SELECT USING (
  tenant_id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));
CREATE POLICY store ON content_tenants USING ((SELECT current_setting('slipway.tenant', true)) = '*');

-- Tenants see nothing. Grants belong to the installation. A dump reads each partition by itself. Readers use the policy of
-- log_chunks.
ALTER TABLE instance_grants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON instance_grants USING ((SELECT current_setting('slipway.tenant', true)) = '*');
ALTER TABLE log_chunks_default ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY everything ON log_chunks_default USING ((SELECT current_setting('slipway.tenant', true)) = '*');

-- A tenant sees itself.
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenants USING (
  (SELECT current_setting('slipway.tenant', true)) = '*'
  OR id = (SELECT nullif(nullif(current_setting('slipway.tenant', true), '*'), '')::uuid));

-- ── Log partitions of the first days ────────────────────────────────────────────────────────────────────────────────

SELECT ensure_log_partition((now() AT TIME ZONE 'UTC')::date + day) FROM generate_series(0, 2) AS day;
