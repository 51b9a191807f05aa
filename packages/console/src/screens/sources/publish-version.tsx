import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import type { Input } from '@slipway/client'
import { type FormEvent, useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { DefinitionField, definitionProblem } from './definition-field.tsx'
import { exampleDefinition } from './examples.ts'
import { type Kind, OPERATIONS } from './kinds.ts'

interface Props {
  kind: Kind
  id: string
  /** The version to start from; undefined where there is none. */
  newest: string | undefined
  onClose: () => void
  onPublished: (version: string) => void
}

/** Publishes a version. A published version never changes. */
export function PublishVersion(props: Props) {
  const { kind, id, newest, onClose } = props
  const params = { id, version: newest ?? '' }
  const read = useRead(OPERATIONS[kind].getVersion, { params }, { enabled: newest !== undefined })
  return (
    <Modal opened onClose={onClose} title="Publish a version" size="xl" closeButtonProps={{ 'aria-label': 'Close' }}>
      {newest === undefined ? (
        <PublishForm {...props} start={exampleDefinition(kind, undefined)} />
      ) : (
        <Loaded read={read}>
          {({ definition }) => <PublishForm {...props} start={JSON.stringify(definition, null, 2)} />}
        </Loaded>
      )}
    </Modal>
  )
}

function PublishForm({ kind, id, newest, onClose, onPublished, start }: Props & { start: string }) {
  const [version, setVersion] = useState(nextVersion(newest))
  const [definition, setDefinition] = useState(start)
  const { get, publish } = OPERATIONS[kind]
  const write = useWrite(publish, get, OPERATIONS[kind].list)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = { version: version.trim(), definition: JSON.parse(definition) } as Input<typeof publish>['body']
    write.mutate({ params: { id }, body }, { onSuccess: (published) => onPublished(published.version) })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Version"
          description={newest === undefined ? 'MAJOR.MINOR.PATCH' : `The newest version is ${newest}`}
          required
          data-autofocus
          value={version}
          onChange={(event) => setVersion(event.currentTarget.value)}
        />
        <DefinitionField
          value={definition}
          onChange={setDefinition}
          description="The server shows secrets as ***. Replace each *** by the value."
        />
        {write.error && <ErrorAlert error={write.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Back
          </Button>
          <Button type="submit" loading={write.isPending} disabled={definitionProblem(definition) !== null}>
            Publish
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The version with its patch number raised by one. */
function nextVersion(newest: string | undefined): string {
  const [, head, patch] = /^(\d+\.\d+\.)(\d+)$/.exec(newest ?? '') ?? []
  return head === undefined ? '' : `${head}${Number(patch) + 1}`
}
