import { Fieldset, SimpleGrid } from '@mantine/core'
import { RecordSelect } from '../../components/record-select.tsx'
import { useSession } from '../../session/session.tsx'
import type { ChangeForm, Form } from './form.ts'

/** The environment and the tenant. Variables, freezes, rules and the choice of targets follow from them. */
export function PlaceFields({ form, onChange }: { form: Form; onChange: ChangeForm }) {
  const { can } = useSession()
  const hasEnvironments = can('environments:read')
  const hasTenants = can('tenants:read')
  if (!hasEnvironments && !hasTenants) return null
  return (
    <Fieldset legend="Where">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {hasEnvironments && (
          <RecordSelect
            label="Environment"
            description="Its targets, variables and rules apply"
            placeholder="No environment"
            kind="environment"
            value={form.environmentId}
            onChange={(environmentId) => onChange(placed(form, environmentId))}
          />
        )}
        {hasTenants && (
          <RecordSelect
            label="Tenant"
            description="Needs an environment. Its variables apply"
            kind="tenant"
            value={form.tenantId}
            onChange={(tenantId) => onChange({ tenantId })}
          />
        )}
      </SimpleGrid>
    </Fieldset>
  )
}

/** Targets that were chosen by name are of another environment. Tags have a meaning in each. */
function placed({ targetsBy }: Form, environmentId: string | null): Partial<Form> {
  if (targetsBy === 'tags') return { environmentId }
  return { environmentId, targetsBy: environmentId === null ? 'ids' : 'environment', targetIds: [] }
}
