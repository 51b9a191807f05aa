import type { DatabaseRole } from './rights.ts'

/** Roles belong to the whole server. Another prefix keeps the roles of a second installation on it apart. */
export const DEFAULT_PREFIX = 'slipway_'

/** The login role of a service or command in Postgres. */
export const roleName = (role: DatabaseRole, prefix = DEFAULT_PREFIX) => `${prefix}${role.replaceAll('-', '_')}`

/** The variable with the address under which a service connects, for whatever starts all services. */
export const urlVariable = (role: DatabaseRole) => `DATABASE_URL_${role.replaceAll('-', '_').toUpperCase()}`
