import { Switch } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useWrite } from '../../api/queries.ts'
import { NAME_FIELDS, namesOf, RecordForm } from '../../components/record-form.tsx'
import { SelectorInput, selectorChange, selectorText } from '../../components/selector-input.tsx'
import { parseTag, TagsField } from '../../components/tags.tsx'
import { useSession } from '../../session/session.tsx'
import { type ConnectionDraft, connectionOf, connectionProblem, draftOf } from './connection-draft.ts'
import { ConnectionFields } from './connection-fields.tsx'
import { placeFields, placeOf } from './place-fields.tsx'

interface Props {
  /** Whether this is the first target: its connection needs no other machine then. */
  isFirst: boolean
  onClose: () => void
}

export function CreateTarget({ isFirst, onClose }: Props) {
  const navigate = useNavigate()
  const { can } = useSession()
  const create = useWrite('createTarget', 'listTargets', 'listTags')
  const tags: string[] = []
  const connection: ConnectionDraft = draftOf()
  if (isFirst) connection.type = can('targets:local') ? 'local' : 'simulated'
  return (
    <RecordForm
      kind="target"
      initial={{
        ...namesOf(null),
        ...placeOf(null),
        connection,
        tags,
        selector: selectorText(null),
        enabled: true,
      }}
      fields={[
        ...NAME_FIELDS.map((field) => (field.name === 'name' ? { ...field, placeholder: 'web-01' } : field)),
        ({ values, set, problemAt }) => (
          <ConnectionFields
            draft={values.connection}
            onChange={(connection) => set({ connection })}
            problem={connectionProblem(problemAt)}
            problemAt={problemAt}
          />
        ),
        ({ bind }) => <TagsField {...bind('tags')} />,
        placeFields,
        ({ bind }) => <SelectorInput kind="target" {...bind('selector', '/instance_selector')} />,
        ({ values, set }) => (
          <Switch
            label="Enabled"
            description="Only enabled targets take part in deployments"
            checked={values.enabled}
            onChange={(event) => set({ enabled: event.currentTarget.checked })}
          />
        ),
      ]}
      asks={({ environment_id }) => ({ permission: 'targets:create', object: { kind: 'target', environment_id } })}
      writes={[create]}
      // Only what differs: the server gives a new target of a user with a tenant that tenant.
      save={(given, { selector, ...changed }) => {
        const body = {
          ...changed,
          ...selectorChange(selector),
          name: given.name,
          tags: given.tags.map(parseTag),
          connection: connectionOf(given.connection),
        }
        create.mutate({ body }, { onSuccess: ({ id }) => void navigate({ to: `/targets/${id}` }) })
      }}
      onClose={onClose}
    />
  )
}
