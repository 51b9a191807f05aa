import { Checkbox, Modal, TextInput } from '@mantine/core'
import type { Input } from '@slipway/client'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { FormModal } from '../../components/form-modal.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { type Kind, OPERATIONS } from '../../components/source-kinds.ts'
import { DefinitionField } from './definition-field.tsx'
import { definitionText, parseDefinition } from './definition-text.ts'
import { exampleDefinition } from './examples.ts'
import { DiffView } from './version-diff.tsx'

interface Props {
  kind: Kind
  id: string
  /** The version to start from; undefined where there is none. */
  newest: string | undefined
  onClose: () => void
  onPublished: (version: string) => void
}

/** Publishes a version. A published version never changes. */
export function PublishVersion({ newest: newestNow, ...props }: Props) {
  const { kind, id, onClose } = props
  // The version that is published here is the newest one before the dialog closes. It must not begin a new form.
  const [newest] = useState(newestNow)
  const params = { id, version: newest ?? '' }
  const read = useRead(OPERATIONS[kind].getVersion, { params }, { enabled: newest !== undefined })
  if (newest === undefined) return <PublishForm {...props} newest={newest} start={exampleDefinition(kind, undefined)} />
  if (read.data !== undefined)
    return <PublishForm {...props} newest={newest} start={definitionText(read.data.definition)} />
  return (
    <Modal opened onClose={onClose} title="Publish a version">
      <Loaded read={read}>{() => null}</Loaded>
    </Modal>
  )
}

function PublishForm({ kind, id, newest, onClose, onPublished, start }: Props & { start: string }) {
  const [version, setVersion] = useState(nextVersion(newest))
  const [text, setText] = useState(start)
  const [showsChanges, setShowsChanges] = useState(false)
  const parsed = parseDefinition(text)
  const before = parseDefinition(start)
  const { get, publish } = OPERATIONS[kind]
  const write = useWrite(publish, get, OPERATIONS[kind].list)
  const submit = () => {
    if ('problem' in parsed) return
    const body = { version: version.trim(), definition: parsed.definition } as Input<typeof publish>['body']
    write.mutate({ params: { id }, body }, { onSuccess: (published) => onPublished(published.version) })
  }
  return (
    <FormModal
      title="Publish a version"
      submitLabel="Publish"
      size="xl"
      writes={[write]}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problemAt) => (
        <>
          <TextInput
            label="Version"
            description={newest === undefined ? 'MAJOR.MINOR.PATCH' : `The newest version is ${newest}`}
            required
            data-autofocus
            value={version}
            onChange={(event) => setVersion(event.currentTarget.value)}
            error={problemAt('/version')}
          />
          <DefinitionField
            kind={kind}
            value={text}
            onChange={setText}
            problem={problemAt('/definition')}
            error={write.error}
            {...(start.includes('***') ? { note: 'Secrets are shown as ***. Replace each *** by the value.' } : {})}
          />
          {newest !== undefined && (
            <Checkbox
              label={`Show what changes from ${newest}`}
              checked={showsChanges}
              onChange={(event) => setShowsChanges(event.currentTarget.checked)}
            />
          )}
          {showsChanges && 'definition' in parsed && 'definition' in before && (
            <DiffView before={before.definition} after={parsed.definition} />
          )}
        </>
      )}
    </FormModal>
  )
}

/** The version with its patch number raised by one. */
function nextVersion(newest: string | undefined): string {
  const [, head, patch] = /^(\d+\.\d+\.)(\d+)$/.exec(newest ?? '') ?? []
  return head === undefined ? '' : `${head}${Number(patch) + 1}`
}
