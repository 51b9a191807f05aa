import { Switch, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../administration/form-modal.tsx'
import { TenantSelect } from '../administration/tenant.tsx'
import { RecordSelect } from '../environments/record-select.tsx'
import { connectionOf, draftOf } from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'
import { parseTag, TagsField } from './tags.tsx'

export function CreateTarget({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const create = useWrite('createTarget', 'listTargets', 'listTags')
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [environment, setEnvironment] = useState<string | null>(null)
  const [tenant, setTenant] = useState<string | null>(null)
  const [tags, setTags] = useState<string[]>([])
  const [isEnabled, setEnabled] = useState(true)
  const [connection, setConnection] = useState(draftOf)

  const submit = () => {
    const body = {
      name,
      description: description || null,
      environment_id: environment,
      ...(tenant === null ? {} : { tenant_id: tenant }),
      tags: tags.map(parseTag),
      connection: connectionOf(connection),
      enabled: isEnabled,
    }
    create.mutate({ body }, { onSuccess: ({ id }) => void navigate({ to: `/targets/${id}` }) })
  }

  return (
    <FormModal title="New target" submitLabel="Create" writes={[create]} onSubmit={submit} onClose={onClose}>
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
      <ConnectionFields draft={connection} onChange={setConnection} />
      <TagsField value={tags} onChange={setTags} />
      <RecordSelect
        kind="environment"
        label="Environment"
        description="Freezes of the environment apply to the target"
        placeholder="No environment"
        value={environment}
        onChange={setEnvironment}
      />
      <TenantSelect
        description="Only this tenant sees the target. Without a tenant, everybody does."
        value={tenant}
        onChange={setTenant}
      />
      <Switch
        label="Enabled"
        description="Only enabled targets take part in deployments"
        checked={isEnabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </FormModal>
  )
}
