import { array, bindings, bindingsSql, bool, int4, nullable, statement, text, uuid } from '@slipway/database'

/** Locks the user until the login is complete. Read the account afterwards: this statement may see older roles. */
export const lockIdentity = statement({
  name: 'gateway.oidc.lock-identity',
  parameters: { issuer: text, subject: text },
  row: { id: uuid },
  sql: `SELECT u.id FROM users u
     WHERE u.id = (SELECT i.user_id FROM identities i WHERE i.issuer = :issuer AND i.subject = :subject) FOR UPDATE OF u`,
})

export const lockAddress = statement({
  name: 'gateway.oidc.lock-address',
  parameters: { email: text },
  row: { id: uuid },
  sql: 'SELECT u.id FROM users u WHERE u.email = :email FOR UPDATE OF u',
})

export const readAccount = statement({
  name: 'gateway.oidc.read-account',
  parameters: { id: uuid },
  row: {
    id: uuid,
    username: text,
    kind: text,
    status: text,
    tenant_id: nullable(uuid),
    token_version: int4,
    break_glass: bool,
    totp_enabled: bool,
    is_linked: bool,
    bindings,
  },
  sql: `SELECT u.id, u.username, u.kind, u.status, u.tenant_id, u.token_version, u.break_glass, u.totp_enabled,
       EXISTS (SELECT FROM identities i WHERE i.user_id = u.id) AS is_linked, ${bindingsSql('u.id')} AS bindings
      FROM users u WHERE u.id = :id`,
})

/** Those of the names that users have. */
export const findTakenNames = statement({
  name: 'gateway.oidc.find-taken-names',
  parameters: { usernames: array(text), name_keys: array(text) },
  row: { username: text, name_key: nullable(text) },
  sql: 'SELECT username, name_key FROM users WHERE username = ANY (:usernames) OR name_key = ANY (:name_keys)',
})

export const insertPerson = statement({
  name: 'gateway.oidc.insert-person',
  parameters: {
    id: uuid,
    email: nullable(text),
    email_verified: bool,
    username: text,
    name_key: text,
    display_name: nullable(text),
  },
  sql: `INSERT INTO users (id, kind, email, email_verified, username, name_key, display_name)
    VALUES (:id, 'person', :email, :email_verified, :username, :name_key, :display_name)`,
})

/** Fails with a unique violation if another login has linked the subject meanwhile. */
export const insertIdentity = statement({
  name: 'gateway.oidc.insert-identity',
  parameters: { user_id: uuid, provider: text, issuer: text, subject: text },
  sql: `INSERT INTO identities (user_id, provider, issuer, subject) VALUES (:user_id, :provider, :issuer, :subject)`,
})

/** The user logs in with a provider from now on. */
export const removePassword = statement({
  name: 'gateway.oidc.remove-password',
  parameters: { user_id: uuid },
  sql: 'UPDATE users SET password_hash = NULL WHERE id = :user_id AND password_hash IS NOT NULL',
})

/** The provider may have got another id. */
export const noteProvider = statement({
  name: 'gateway.oidc.note-provider',
  parameters: { user_id: uuid, provider: text },
  sql: 'UPDATE identities SET provider = :provider WHERE user_id = :user_id AND provider <> :provider',
})

export const noteProviderLogin = statement({
  name: 'gateway.oidc.note-login',
  parameters: { user_id: uuid, tenant_id: nullable(uuid) },
  sql: 'UPDATE users SET last_login_at = now(), tenant_id = :tenant_id WHERE id = :user_id',
})

export const findTenantBySlug = statement({
  name: 'gateway.oidc.find-tenant',
  parameters: { slug: text },
  row: { id: uuid },
  sql: 'SELECT id FROM tenants WHERE slug = :slug',
})

/** Shared environments, and those of the tenant. */
export const findEnvironmentsByName = statement({
  name: 'gateway.oidc.find-environments',
  parameters: { names: array(text), tenant_id: nullable(uuid) },
  row: { id: uuid, name: text },
  sql: 'SELECT id, name FROM environments WHERE name = ANY (:names) AND (tenant_id IS NULL OR tenant_id = :tenant_id)',
})

/** Shared solutions, and those of the tenant. */
export const findSolutionsByName = statement({
  name: 'gateway.oidc.find-solutions',
  parameters: { names: array(text), tenant_id: nullable(uuid) },
  row: { id: uuid, name: text },
  sql: `SELECT id, name FROM sources
     WHERE kind = 'solution' AND name = ANY (:names) AND (tenant_id IS NULL OR tenant_id = :tenant_id)`,
})
