import { Textarea, TextInput } from '@mantine/core'
import type { Item } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../administration/form-modal.tsx'
import { TenantSelect } from '../administration/tenant.tsx'
import { useVariables } from './variables.ts'
import { VariablesEditor } from './variables-editor.tsx'

interface Props {
  /** Absent for a new one. */
  environment?: Item<'listEnvironments'> | undefined
  onClose: () => void
}

export function EnvironmentForm({ environment, onClose }: Props) {
  const create = useWrite('createEnvironment', 'listEnvironments')
  const update = useWrite('updateEnvironment', 'listEnvironments', 'getEnvironment')
  const [name, setName] = useState(environment?.name ?? '')
  const [description, setDescription] = useState(environment?.description ?? '')
  const [tenant, setTenant] = useState(environment?.tenant_id ?? null)
  const variables = useVariables(environment)

  const submit = () => {
    const changes = variables.fieldsToSend()
    if (changes === null) return
    const isMoved = tenant !== (environment?.tenant_id ?? null)
    const body = { name, description: description || null, ...(isMoved ? { tenant_id: tenant } : {}), ...changes }
    const done = { onSuccess: onClose }
    if (environment) update.mutate({ params: { id: environment.id }, body }, done)
    else create.mutate({ body }, done)
  }

  return (
    <FormModal
      title={environment ? `Change ${environment.name}` : 'New environment'}
      submitLabel={environment ? 'Save' : 'Create'}
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
      <TenantSelect
        description="Only this tenant sees the environment. Without a tenant, everybody does."
        value={tenant}
        onChange={setTenant}
      />
      <VariablesEditor rows={variables.rows} onChange={variables.setRows} />
    </FormModal>
  )
}
