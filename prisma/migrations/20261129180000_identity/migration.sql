-- Company accounts, service accounts, rights in scopes, and tokens of pipelines.

-- Service accounts have neither address nor password, and users of a provider may have none.
ALTER TABLE users
  ALTER COLUMN email DROP NOT NULL,
  ALTER COLUMN password_hash DROP NOT NULL,
  ADD COLUMN kind text NOT NULL DEFAULT 'person',
  -- Whether the user may log in by password although password login is off.
  ADD COLUMN break_glass boolean NOT NULL DEFAULT false;

-- The accounts of users at OpenID Connect providers. `provider` is the id of the provider at the last login.
CREATE TABLE identities (
  user_id uuid NOT NULL,
  provider text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  CONSTRAINT identities_pkey PRIMARY KEY (user_id),
  CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX identities_issuer_subject_key ON identities (issuer, subject);
ALTER TABLE identities ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON identities USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));

-- Roles of users in a scope: null stands for every environment, and for every source. Roles without scope are in `user_roles`.
CREATE TABLE role_bindings (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  role_id uuid NOT NULL,
  environment_ids uuid[] CHECK (cardinality(environment_ids) > 0),
  solution_ids uuid[] CHECK (cardinality(solution_ids) > 0),
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT role_bindings_pkey PRIMARY KEY (id),
  CONSTRAINT role_bindings_role_id_fkey FOREIGN KEY (role_id) REFERENCES roles(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT role_bindings_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX role_bindings_user_id_idx ON role_bindings (user_id);
CREATE INDEX role_bindings_role_id_idx ON role_bindings (role_id);
ALTER TABLE role_bindings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON role_bindings USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));

-- The scope to which an API key narrows what its user may do; null: no limit.
ALTER TABLE api_keys
  ADD COLUMN environment_ids uuid[] CHECK (cardinality(environment_ids) > 0),
  ADD COLUMN solution_ids uuid[] CHECK (cardinality(solution_ids) > 0);

-- Whose tokens a service account takes: those of this issuer for this audience, with all of these claims.
CREATE TABLE trusts (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text NOT NULL,
  issuer text NOT NULL,
  audience text NOT NULL,
  claims jsonb NOT NULL,
  created_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP NOT NULL,
  created_by uuid,
  CONSTRAINT trusts_pkey PRIMARY KEY (id),
  CONSTRAINT trusts_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE UNIQUE INDEX trusts_user_id_name_key ON trusts (user_id, name);
ALTER TABLE trusts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON trusts USING ((SELECT current_setting('slipway.tenant', true)) = '*' OR sees_user(user_id));

-- Tokens that were exchanged: each works once. Rows are kept until their token ends. Only code for all tenants uses them.
CREATE TABLE exchanged_tokens (
  token_hash text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT exchanged_tokens_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX exchanged_tokens_expires_at_idx ON exchanged_tokens (expires_at);
ALTER TABLE exchanged_tokens ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON exchanged_tokens USING ((SELECT current_setting('slipway.tenant', true)) = '*');

-- The provider with which a login began the session; null: a password, or an exchanged token.
ALTER TABLE sessions ADD COLUMN identity_provider text;

-- The API key with which a request was made; null: without one.
ALTER TABLE pending_requests ADD COLUMN author_key_id uuid;
