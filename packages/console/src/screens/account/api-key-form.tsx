import { MultiSelect, NumberInput, TextInput } from '@mantine/core'
import type { Answer, Schema } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { useSession } from '../../session/session.tsx'

type Scope = NonNullable<Schema<'CreateApiKey'>['scopes']>[number]

const MAX_DAYS = 3_650
const USUAL_DAYS = 90

interface Props {
  onClose: () => void
  onCreated: (answer: Answer<'createApiKey'>) => void
}

export function ApiKeyForm({ onClose, onCreated }: Props) {
  const { user } = useSession()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [scopes, setScopes] = useState<Scope[]>([])
  const [days, setDays] = useState<number | string>(USUAL_DAYS)
  const create = useWrite('createApiKey', 'listApiKeys')
  const submit = () =>
    create.mutate(
      {
        body: {
          name: name.trim(),
          scopes,
          ...(description.trim() === '' ? {} : { description: description.trim() }),
          ...(days === '' ? {} : { expires_in_days: Number(days) }),
        },
      },
      { onSuccess: onCreated },
    )
  return (
    <FormModal title="New API key" submitLabel="Create" writes={[create]} onSubmit={submit} onClose={onClose}>
      <TextInput
        label="Name"
        description="Which pipeline or script uses the key"
        required
        data-autofocus
        maxLength={255}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <MultiSelect
        label="Scopes"
        description="Permissions of the key. Without any, the key may do all that you may."
        placeholder={scopes.length === 0 ? 'All your permissions' : ''}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Remove all scopes' }}
        hidePickedOptions
        nothingFoundMessage="You have no such permission"
        data={user.permissions as Scope[]}
        value={scopes}
        onChange={setScopes}
      />
      <NumberInput
        label="Expires after (days)"
        description="Empty: the key does not expire"
        min={1}
        max={MAX_DAYS}
        allowDecimal={false}
        value={days}
        onChange={setDays}
      />
    </FormModal>
  )
}
