import { Alert, Select, Text } from '@mantine/core'
import type { Item, Schema } from '@slipway/client'
import type { ProblemAt } from '../../components/field-problem.ts'
import { RoleWords } from '../../components/limit-words.tsx'
import { RecordName, TenantSelect } from '../../components/record-select.tsx'
import { type BindingDraft, bindingsOf, draftsOf } from './bindings.ts'
import { BindingsField } from './bindings-field.tsx'
import { RoleSelect } from './role-select.tsx'

type User = Item<'listUsers'>
export type UserStatus = NonNullable<Schema<'CreateUser'>['status']>

const STATUSES: Record<UserStatus, string> = {
  active: 'Active',
  inactive: 'Inactive',
  suspended: 'Suspended',
}

/** What a user may do, as forms have it. */
interface Rights {
  roles: string[]
  bindings: BindingDraft[]
  tenant_id: string | null
  status: UserStatus
}

export const rightsOf = (user: User | null): Rights => ({
  roles: user?.roles ?? [],
  bindings: draftsOf(user?.role_bindings ?? []),
  tenant_id: user?.tenant_id ?? null,
  status: (user?.status as UserStatus | undefined) ?? 'active',
})

/** The changed fields as the API takes them. */
export function changedRights<V extends { bindings?: readonly BindingDraft[] }>(changed: V) {
  const { bindings, ...others } = changed
  return { ...others, ...(bindings === undefined ? {} : { role_bindings: bindingsOf(bindings) }) }
}

/** For a new user. Without a tenant_id, the new user of a caller with a tenant gets that tenant. */
export function givenRights<V extends { bindings: readonly BindingDraft[]; tenant_id: string | null }>(given: V) {
  const { bindings, tenant_id, ...others } = given
  return { ...others, role_bindings: bindingsOf(bindings), ...(tenant_id === null ? {} : { tenant_id }) }
}

interface Form {
  values: Rights
  set: (changed: Partial<Rights>) => void
  problemAt: ProblemAt
}

/** The roles without and with a scope, and the tenant. */
export function roleFields({ values, set, problemAt }: Form) {
  return (
    <>
      <RoleSelect value={values.roles} onChange={(roles) => set({ roles })} error={problemAt('/roles')} />
      <BindingsField
        value={values.bindings}
        onChange={(bindings) => set({ bindings })}
        error={problemAt('/role_bindings')}
      />
      <TenantSelect
        description="The user sees only this tenant. Without a tenant, the user sees all tenants."
        value={values.tenant_id}
        onChange={(tenant_id) => set({ tenant_id })}
        error={problemAt('/tenant_id')}
      />
    </>
  )
}

export function statusSelect({ values, set, problemAt }: Form) {
  return (
    <Select
      label="Status"
      description="A user who is suspended or inactive can do nothing"
      allowDeselect={false}
      data={Object.entries(STATUSES).map(([value, label]) => ({ value: value as UserStatus, label }))}
      value={values.status}
      onChange={(status) => status !== null && set({ status })}
      error={problemAt('/status')}
    />
  )
}

/** Roles and tenant of a user whom a provider of identities knows. */
export function ProviderRights({ user, provider }: { user: User; provider: string }) {
  return (
    <Alert color="blue" title={`The provider ${provider} gives roles and tenant`}>
      <Text size="sm">
        They are set again at each login of the user, so they cannot be changed here. Change the groups of the user at
        the provider, or the rules of the provider.
      </Text>
      <Text size="sm" component="div" mt="xs">
        Roles: <RoleWords user={user} />
      </Text>
      <Text size="sm" component="div">
        Tenant: <RecordName kind="tenant" id={user.tenant_id} none="all" />
      </Text>
    </Alert>
  )
}
