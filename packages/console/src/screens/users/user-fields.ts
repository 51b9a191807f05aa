import type { Item, Schema } from '@slipway/client'
import { changesOf } from '../../components/changes.ts'

type User = Item<'listUsers'>
export type UserStatus = NonNullable<Schema<'CreateUser'>['status']>

/** What the form of a user holds. */
export interface UserFields {
  email: string
  username: string
  display_name: string
  password: string
  roles: string[]
  tenant_id: string | null
  status: UserStatus
  email_verified: boolean
}

export function fieldsOf(user: User | null): UserFields {
  return {
    email: user?.email ?? '',
    username: user?.username ?? '',
    display_name: user?.display_name ?? '',
    password: '',
    roles: user?.roles ?? [],
    tenant_id: user?.tenant_id ?? null,
    status: (user?.status as UserStatus | undefined) ?? 'active',
    email_verified: user?.email_verified ?? false,
  }
}

const trimmed = (fields: UserFields) => ({
  ...fields,
  email: fields.email.trim(),
  username: fields.username.trim(),
  display_name: fields.display_name.trim() || null,
})

export function toNewUser(fields: UserFields): Schema<'CreateUser'> {
  const { tenant_id, ...user } = trimmed(fields)
  // Without this field, the new user of a caller with a tenant gets that tenant.
  return tenant_id === null ? user : { ...user, tenant_id }
}

/** Only what differs: the server asks for more rights for some fields, and ends sessions for others. */
export const toChanges = (user: User, fields: UserFields): Schema<'ChangeUser'> =>
  changesOf({ ...user, password: '' }, trimmed(fields))
