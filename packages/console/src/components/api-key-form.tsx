import { MultiSelect, NumberInput, Text, TextInput } from '@mantine/core'
import type { Schema } from '@slipway/client'
import { useState } from 'react'
import { FormModal } from './form-modal.tsx'
import { LimitFields } from './limit-fields.tsx'
import { type Limits, storedLimits } from './limits.ts'

type NewKey = Schema<'CreateApiKey'>
type Scope = NonNullable<NewKey['scopes']>[number]

const MAX_DAYS = 3_650
const USUAL_DAYS = 90

interface Props {
  /** Whose permissions the key has without scopes, such as "all your permissions". */
  all: string
  /** The permissions that the key can have. */
  scopes: readonly string[]
  create: { isPending: boolean; error: Error | null }
  onSubmit: (key: NewKey) => void
  onClose: () => void
}

export function ApiKeyForm({ all, scopes: offered, create, onSubmit, onClose }: Props) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [scopes, setScopes] = useState<Scope[]>([])
  const [limits, setLimits] = useState<Limits>({ environments: [], solutions: [] })
  const [days, setDays] = useState<number | string>(USUAL_DAYS)
  const submit = () =>
    onSubmit({
      name: name.trim(),
      scopes,
      ...storedLimits(limits),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
      ...(days === '' ? {} : { expires_in_days: Number(days) }),
    })
  return (
    <FormModal title="New API key" submitLabel="Create" writes={[create]} onSubmit={submit} onClose={onClose}>
      {(problemAt) => (
        <>
          <TextInput
            label="Name"
            description="Which pipeline or script uses the key"
            required
            data-autofocus
            maxLength={255}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problemAt('/name')}
          />
          <TextInput
            label="Description"
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={problemAt('/description')}
          />
          <MultiSelect
            label="Scopes"
            description={`Permissions of the key. Without any, the key has ${all}.`}
            placeholder={scopes.length === 0 ? 'All permissions' : ''}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': 'Remove all scopes' }}
            hidePickedOptions
            nothingFoundMessage="There is no such permission to give"
            data={offered as Scope[]}
            value={scopes}
            onChange={setScopes}
            error={problemAt('/scopes')}
          />
          <Text size="sm">
            With environments or solutions, the key reads everything as before. It deploys, cancels, approves, and
            changes freezes and targets only there, and does nothing else.
          </Text>
          <LimitFields
            value={limits}
            onChange={(changed) => setLimits((known) => ({ ...known, ...changed }))}
            errors={{ environments: problemAt('/environment_ids'), solutions: problemAt('/solution_ids') }}
          />
          <NumberInput
            label="Expires after (days)"
            description="Empty: the key does not expire"
            min={1}
            max={MAX_DAYS}
            allowDecimal={false}
            value={days}
            onChange={setDays}
            error={problemAt('/expires_in_days')}
          />
        </>
      )}
    </FormModal>
  )
}
