import { Button, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { Input } from '@slipway/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { type Kind, OPERATIONS, PART_OF } from '../../components/source-kinds.ts'
import { useSession } from '../../session/session.tsx'
import { DefinitionField } from './definition-field.tsx'
import { parseDefinition } from './definition-text.ts'
import { exampleDefinition } from './examples.ts'

interface Props {
  kind: Kind
  onClose: () => void
  /** Creates a source of another kind instead. */
  onKind: (kind: Kind) => void
}

/** Creates a source with its first version. */
export function CreateSource({ kind, onClose, onKind }: Props) {
  const { can } = useSession()
  const part = PART_OF[kind]
  const mayReadParts = part !== null && can(`${part}s:read`)
  const parts = useRead(OPERATIONS[part ?? 'action'].list, { query: { limit: 1 } }, { enabled: mayReadParts })
  if (!mayReadParts) return <CreateForm kind={kind} example={exampleDefinition(kind, undefined)} onClose={onClose} />
  if (parts.data === undefined || parts.data.data.length === 0) {
    return (
      <Modal opened onClose={onClose} title={`New ${kind}`}>
        <Loaded read={parts}>
          {() => (
            <Stack align="start">
              <Text size="sm">
                A {kind} consists of {part}s, and there is no {part} yet.
              </Text>
              <Button onClick={() => onKind(part)}>
                Create {part === 'action' ? 'an action' : 'a sequence'} first
              </Button>
            </Stack>
          )}
        </Loaded>
      </Modal>
    )
  }
  return <CreateForm kind={kind} example={exampleDefinition(kind, parts.data.data[0])} onClose={onClose} />
}

const NAME_EXAMPLES: Record<Kind, string> = {
  action: 'Restart the web server',
  sequence: 'Release the storefront',
  solution: 'Storefront',
}

function CreateForm({ kind, example, onClose }: { kind: Kind; example: string; onClose: () => void }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [version, setVersion] = useState('1.0.0')
  const [text, setText] = useState(example)
  const create = useWrite(OPERATIONS[kind].create, OPERATIONS[kind].list)

  const submit = () => {
    const parsed = parseDefinition(text)
    if ('problem' in parsed) return
    const body = {
      name: name.trim(),
      version: version.trim(),
      ...(description.trim() === '' ? {} : { description: description.trim() }),
      definition: parsed.definition,
    } as Input<'createAction' | 'createSequence' | 'createSolution'>['body']
    create.mutate({ body }, { onSuccess: ({ id }) => void navigate({ to: `/sources/${kind}s/${id}` }) })
  }
  return (
    <FormModal
      title={`New ${kind}`}
      submitLabel="Create"
      size="xl"
      writes={[create]}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problemAt) => (
        <>
          <TextInput
            label="Name"
            placeholder={NAME_EXAMPLES[kind]}
            required
            data-autofocus
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={problemAt('/name')}
          />
          <Textarea
            label="Description"
            autosize
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={problemAt('/description')}
          />
          <TextInput
            label="Version"
            description="MAJOR.MINOR.PATCH, for example 1.0.0 or 2.0.0-rc.1"
            required
            value={version}
            onChange={(event) => setVersion(event.currentTarget.value)}
            error={problemAt('/version')}
          />
          <DefinitionField
            kind={kind}
            value={text}
            onChange={setText}
            problem={problemAt('/definition')}
            error={create.error}
          />
        </>
      )}
    </FormModal>
  )
}
