import { Textarea, TextInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../administration/form-modal.tsx'
import { useVariables } from '../environments/variables.ts'
import { VariablesEditor } from '../environments/variables-editor.tsx'

interface Props {
  /** Absent for a new one. */
  tenant?: Item<'listTenants'> | undefined
  onClose: () => void
}

export function TenantForm({ tenant, onClose }: Props) {
  const create = useWrite('createTenant', 'listTenants')
  const update = useWrite('updateTenant', 'listTenants', 'getTenant')
  const [name, setName] = useState(tenant?.name ?? '')
  const [description, setDescription] = useState(tenant?.description ?? '')
  const [slug, setSlug] = useState(tenant?.slug ?? '')
  const variables = useVariables(tenant)

  const submit = () => {
    const changes = variables.fieldsToSend()
    if (changes === null) return
    const body = { name, description: description || null, ...(slug ? { slug } : {}), ...changes }
    const done = { onSuccess: onClose }
    if (tenant) update.mutate({ params: { id: tenant.id }, body }, done)
    else create.mutate({ body }, done)
  }

  return (
    <FormModal
      title={tenant ? `Change ${tenant.name}` : 'New tenant'}
      submitLabel={tenant ? 'Save' : 'Create'}
      size="xl"
      writes={[create, update, variables]}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        autosize
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <TextInput
        label="Slug"
        description="Short name of lower-case letters, digits and hyphens. Slipway derives an empty one from the name."
        pattern="[a-z0-9]+(-[a-z0-9]+)*"
        title="Lower-case letters, digits and hyphens"
        required={tenant !== undefined}
        value={slug}
        onChange={(event) => setSlug(event.currentTarget.value)}
      />
      <VariablesEditor rows={variables.rows} onChange={variables.setRows} />
    </FormModal>
  )
}
