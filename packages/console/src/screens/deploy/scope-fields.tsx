import { Fieldset, SimpleGrid } from '@mantine/core'
import { RecordSelect } from '../../components/record-select.tsx'
import { useSession } from '../../session/session.tsx'
import type { ChangeForm, Form } from './form.ts'

/** The environment and the tenant, from which variables and freezes follow. */
export function ScopeFields({ form, onChange }: { form: Form; onChange: ChangeForm }) {
  const { can } = useSession()
  const hasEnvironments = can('environments:read')
  const hasTenants = can('tenants:read')
  if (!hasEnvironments && !hasTenants) return null
  return (
    <Fieldset legend="Scope">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {hasEnvironments && (
          <RecordSelect
            label="Environment"
            description="Its variables apply. Required with a tenant"
            kind="environment"
            value={form.environmentId}
            onChange={(environmentId) => onChange({ environmentId })}
          />
        )}
        {hasTenants && (
          <RecordSelect
            label="Tenant"
            description="Its variables apply, and the deployment belongs to it"
            kind="tenant"
            value={form.tenantId}
            onChange={(tenantId) => onChange({ tenantId })}
          />
        )}
      </SimpleGrid>
    </Fieldset>
  )
}
