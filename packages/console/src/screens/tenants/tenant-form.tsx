import { TextInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { VariableRecordForm } from '../../components/variable-record-form.tsx'

interface Props {
  /** Null for a new one. */
  tenant: Item<'listTenants'> | null
  onClose: () => void
}

export function TenantForm({ tenant, onClose }: Props) {
  const create = useWrite('createTenant', 'listTenants')
  const update = useWrite('updateTenant', 'listTenants', 'getTenant')
  const [slug, setSlug] = useState(tenant?.slug ?? '')
  const done = { onSuccess: onClose }
  return (
    <VariableRecordForm
      kind="tenant"
      record={tenant}
      writes={[create, update]}
      save={(fields) => {
        const body = slug ? { ...fields, slug } : fields
        if (tenant) update.mutate({ params: { id: tenant.id }, body }, done)
        else create.mutate({ body }, done)
      }}
      onClose={onClose}
    >
      <TextInput
        label="Slug"
        description="Short name of lower-case letters, digits and hyphens. Slipway derives an empty one from the name."
        pattern="[a-z0-9]+(-[a-z0-9]+)*"
        title="Lower-case letters, digits and hyphens"
        required={tenant !== null}
        value={slug}
        onChange={(event) => setSlug(event.currentTarget.value)}
      />
    </VariableRecordForm>
  )
}
