import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core'
import type { Input } from '@slipway/client'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { useSession } from '../../session/session.tsx'
import { DefinitionField, definitionProblem } from './definition-field.tsx'
import { exampleDefinition, PART_OF } from './examples.ts'
import { type Kind, OPERATIONS } from './kinds.ts'

const HELP: Record<Kind, string> = {
  action: 'A script with its variables. {{ name }} in the script is replaced by the variable.',
  sequence: 'Actions in order. The example names an action that exists.',
  solution: 'Sequences in order. The example names a sequence that exists.',
}

/** Creates a source with its first version. */
export function CreateSource({ kind, onClose }: { kind: Kind; onClose: () => void }) {
  const { can } = useSession()
  const part = PART_OF[kind]
  const mayReadParts = part !== null && can(`${part}s:read`)
  const parts = useRead(OPERATIONS[part ?? 'action'].list, { query: { limit: 1 } }, { enabled: mayReadParts })
  return (
    <Modal opened onClose={onClose} title={`New ${kind}`} size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      {mayReadParts ? (
        <Loaded read={parts}>
          {({ data }) => <CreateForm kind={kind} example={exampleDefinition(kind, data[0])} onClose={onClose} />}
        </Loaded>
      ) : (
        <CreateForm kind={kind} example={exampleDefinition(kind, undefined)} onClose={onClose} />
      )}
    </Modal>
  )
}

function CreateForm({ kind, example, onClose }: { kind: Kind; example: string; onClose: () => void }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [version, setVersion] = useState('1.0.0')
  const [definition, setDefinition] = useState(example)
  const create = useWrite(OPERATIONS[kind].create, OPERATIONS[kind].list)

  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = {
      name: name.trim(),
      version: version.trim(),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
      definition: JSON.parse(definition),
    } as Input<'createAction' | 'createSequence' | 'createSolution'>['body']
    create.mutate(
      { body },
      {
        onSuccess: ({ id }) => {
          onClose()
          void navigate({ to: `/sources/${kind}s/${id}` })
        },
      },
    )
  }
  return (
    <form onSubmit={submit}>
      <Stack>
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
          label="Version"
          description="MAJOR.MINOR.PATCH, for example 1.0.0 or 2.0.0-rc.1"
          required
          value={version}
          onChange={(event) => setVersion(event.currentTarget.value)}
        />
        <DefinitionField value={definition} onChange={setDefinition} description={HELP[kind]} />
        {create.error && <ErrorAlert error={create.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button type="submit" loading={create.isPending} disabled={definitionProblem(definition) !== null}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
