import { Switch } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { NameFields, useNameFields } from '../../components/name-fields.tsx'
import { SelectorInput, useSelector } from '../../components/selector-input.tsx'
import { parseTag, TagsField } from '../../components/tags.tsx'
import { useSession } from '../../session/session.tsx'
import { type ConnectionDraft, connectionOf, draftOf } from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'
import { PlaceFields, usePlaceFields } from './place-fields.tsx'

interface Props {
  /** Whether this is the first target: its connection needs no other machine then. */
  isFirst: boolean
  onClose: () => void
}

export function CreateTarget({ isFirst, onClose }: Props) {
  const navigate = useNavigate()
  const { can } = useSession()
  const firstType = can('targets:local') ? 'local' : 'simulated'
  const create = useWrite('createTarget', 'listTargets', 'listTags')
  const named = useNameFields(null)
  const place = usePlaceFields()
  const selector = useSelector(null)
  const [tags, setTags] = useState<string[]>([])
  const [isEnabled, setEnabled] = useState(true)
  const [connection, setConnection] = useState<ConnectionDraft>(() => ({
    ...draftOf(),
    ...(isFirst ? { type: firstType } : {}),
  }))

  const submit = () => {
    const selected = selector.fieldsToSend()
    if (selected === null) return
    const body = {
      ...named.fields,
      ...place.fields,
      ...selected,
      tags: tags.map(parseTag),
      connection: connectionOf(connection),
      enabled: isEnabled,
    }
    create.mutate({ body }, { onSuccess: ({ id }) => void navigate({ to: `/targets/${id}` }) })
  }

  return (
    <FormModal title="New target" submitLabel="Create" writes={[create]} onSubmit={submit} onClose={onClose}>
      <NameFields placeholder="web-01" {...named.inputs} />
      <ConnectionFields draft={connection} onChange={setConnection} />
      <TagsField value={tags} onChange={setTags} />
      <PlaceFields {...place.inputs} />
      <SelectorInput kind="target" {...selector.inputs} />
      <Switch
        label="Enabled"
        description="Only enabled targets take part in deployments"
        checked={isEnabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
    </FormModal>
  )
}
