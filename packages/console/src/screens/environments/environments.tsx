import { Anchor } from '@mantine/core'
import type { Item } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import type { Column } from '../../components/data-table.tsx'
import { ListScreen } from '../../components/list-screen.tsx'
import { Named } from '../../components/named.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { RecordButtons } from '../../components/row-buttons.tsx'
import { sortQuery } from '../../components/sorting.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useAddress } from '../../components/use-address.ts'
import { VariableNames } from '../../components/variable-names.tsx'
import { useSession } from '../../session/session.tsx'
import { EnvironmentForm } from './environment-form.tsx'
import { MoveButtons } from './move-buttons.tsx'
import { ruleSentences } from './rules-words.ts'

type Environment = Item<'listEnvironments'>

const SORTED = ['position', 'name'] as const

export function Environments() {
  const { search, listQuery } = useAddress()
  const { can } = useSession()
  // Elsewhere the neighbours of a row are not those of its position.
  const isInOrder = search['sort'] === undefined && search['search'] === undefined
  const environments = useRead(
    'listEnvironments',
    { query: { ...listQuery, ...sortQuery(SORTED, search['sort']) } },
    { keep: true },
  )
  return (
    <ListScreen
      title="Environments"
      command="slipway export -d catalog"
      record="environment"
      purpose="An environment, such as staging or production, groups targets and has variables for deployments. Create the first one."
      permission="environments:create"
      read={environments}
      form={(environment, onClose) => <EnvironmentForm environment={environment} onClose={onClose} />}
      columns={[
        {
          head: 'Name',
          sort: 'name',
          copied: ({ name }) => name,
          cell: ({ name, description }) => <Named name={name}>{description}</Named>,
        },
        { head: 'Position', sort: 'position', width: 84, cell: ({ position }) => position ?? '–' },
        { head: 'Tenant', width: 120, cell: ({ tenant_id }) => <RecordName kind="tenant" id={tenant_id} /> },
        {
          head: 'Rules',
          wraps: true,

          cell: ({ rules }) => <RuleWords rules={rules} listed={environments.data?.data ?? []} />,
        },
        { head: 'Variables', isExtra: true, cell: ({ variables }) => <VariableNames variables={variables} /> },
        ...(can('targets:read') ? [TARGETS] : []),
        { head: 'Changed', isExtra: true, width: 112, cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
      ]}
      actionsWidth={196}
      actions={({ id, name, position }, open) => (
        <RecordButtons
          id={id}
          name={name}
          mayChange={can('environments:update')}
          onChange={open}
          mayDelete={can('environments:delete')}
          deletion={['deleteEnvironment', 'listEnvironments']}
          question={`The environment ${name} and its variables are deleted. Slipway refuses this while a record belongs to the environment.`}
        >
          {isInOrder && position !== null && can('environments:update') && (
            <MoveButtons id={id} name={name} listed={environments.data?.data ?? []} />
          )}
        </RecordButtons>
      )}
    />
  )
}

/** The rules in sentences. The environment before is read if it is on another page of the list. */
function RuleWords({ rules, listed }: Pick<Environment, 'rules'> & { listed: readonly Environment[] }) {
  const id = rules?.promotion?.from_environment_id
  const before = listed.find((environment) => environment.id === id)
  const read = useRead('getEnvironment', { params: { id: id ?? '' } }, { enabled: id !== undefined && !before })
  const sentences = ruleSentences(rules, (wanted) => (before ?? read.data)?.name ?? wanted)
  if (sentences.length === 0) return '–'
  return sentences.map((sentence) => <div key={sentence}>{sentence}</div>)
}

const TARGETS: Column<Environment> = {
  head: 'Targets',
  width: 80,
  cell: ({ id, name }) => (
    <Anchor
      component={Link}
      to="/targets"
      search={{ environment: id } as never}
      size="sm"
      aria-label={`Show the targets of ${name}`}
    >
      Show
    </Anchor>
  ),
}
