import { Switch, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import { FormModal } from '../administration/form-modal.tsx'
import { TenantSelect } from '../administration/tenant.tsx'
import { RecordSelect } from '../environments/record-select.tsx'
import { type ConnectionDraft, connectionOf, draftOf } from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'
import { parseTag, TagsField } from './tags.tsx'

interface Props {
  /** Whether this is the first target: its connection needs no other machine then. */
  isFirst?: boolean
  onClose: () => void
}

export function CreateTarget({ isFirst = false, onClose }: Props) {
  const navigate = useNavigate()
  const { can } = useSession()
  const firstType = can('targets:local') ? 'local' : 'simulated'
  const create = useWrite('createTarget', 'listTargets', 'listTags')
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [environment, setEnvironment] = useState<string | null>(null)
  const [tenant, setTenant] = useState<string | null>(null)
  const [tags, setTags] = useState<string[]>([])
  const [isEnabled, setEnabled] = useState(true)
  const [connection, setConnection] = useState<ConnectionDraft>(() => ({
    ...draftOf(),
    ...(isFirst ? { type: firstType } : {}),
  }))

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
        placeholder="web-01"
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
