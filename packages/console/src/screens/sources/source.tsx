import { Button, Tabs, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { curlCommand, shellQuoted } from '../../components/commands.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { type Kind, OPERATIONS, parseKind } from '../../components/source-kinds.ts'
import { useSession } from '../../session/session.tsx'
import { useRight } from '../../session/use-right.ts'
import { InstalledList } from '../releases/installed-list.tsx'
import { PublishVersion } from './publish-version.tsx'
import { SourceDeployments } from './source-deployments.tsx'
import { SourceVersions } from './source-versions.tsx'
import { UsedBy, usersOf } from './used-by.tsx'
import { VersionDiff } from './version-diff.tsx'

/** One solution, sequence or action. */
export function Source() {
  const { kind: text, id } = useParams({ strict: false })
  const kind = parseKind(text)
  if (kind === null || id === undefined) {
    return (
      <Page title="Source">
        <Empty title={`There is no kind of source named ${text}`}>
          <Link to="/sources">Show all sources</Link>
        </Empty>
      </Page>
    )
  }
  return <SourceOfKind key={id} kind={kind} id={id} />
}

function SourceOfKind({ kind, id }: { kind: Kind; id: string }) {
  const source = useRead(OPERATIONS[kind].get, { params: { id } })
  if (source.data === undefined) {
    return (
      <Page title="Source">
        <Loaded read={source}>{() => null}</Loaded>
      </Page>
    )
  }
  return <SourcePage kind={kind} source={source.data} />
}

function SourcePage({ kind, source }: { kind: Kind; source: Answer<'getAction'> }) {
  const { id, name, description, latest_version } = source
  const mayDeploy = useRight('deployments:create', {
    kind: 'deployment',
    environment_id: null,
    source: { type: kind, id },
  })
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const { can } = useSession()
  const [isPublishing, setPublishing] = useState(false)
  const parent = usersOf(kind)
  const versions = source.versions.map(({ version }) => version)
  const newest = latest_version ?? versions[0]
  const definitionCommand = curlCommand(newest === undefined ? `/${kind}s/${id}` : `/${kind}s/${id}/versions/${newest}`)
  const change = (changes: Record<string, string | undefined>) =>
    void navigate({ to: `/sources/${kind}s/${id}`, search: { ...search, ...changes }, replace: true })
  return (
    <Page
      title={name}
      command={search['tab'] === 'where' ? `slipway where ${shellQuoted(name)} --kind ${kind}` : definitionCommand}
      actions={
        <>
          <LinkButton may={mayDeploy} to="/deploy" search={{ kind, id }} size="xs">
            Deploy
          </LinkButton>
          {can(`${kind}s:update`) && (
            <Button variant="default" size="xs" onClick={() => setPublishing(true)}>
              Publish a version
            </Button>
          )}
          {can(`${kind}s:delete`) && <DeleteSource kind={kind} id={id} name={name} />}
        </>
      }
    >
      <Text size="sm">
        {kind} {latest_version === null ? 'without a version that is not a prerelease' : latest_version}
        {description === null || description === '' ? '' : ` · ${description}`}
      </Text>
      <Tabs
        value={search['tab'] ?? 'versions'}
        onChange={(tab) => change({ tab: tab ?? undefined })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="versions">Versions</Tabs.Tab>
          <Tabs.Tab value="compare" disabled={versions.length < 2}>
            Compare
          </Tabs.Tab>
          {parent !== null && can(`${parent}s:read`) && <Tabs.Tab value="uses">Used by</Tabs.Tab>}
          {can('deployments:read') && <Tabs.Tab value="where">Releases</Tabs.Tab>}
          {can('deployments:read') && <Tabs.Tab value="deployments">Deployments</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="versions" pt="md">
          <SourceVersions
            kind={kind}
            source={source}
            chosen={search['version'] ?? newest}
            onChoose={(version) => change({ version })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="compare" pt="md">
          <VersionDiff
            kind={kind}
            id={id}
            versions={versions}
            before={search['before'] ?? versions[1] ?? ''}
            after={search['after'] ?? versions[0] ?? ''}
            onChange={change}
          />
        </Tabs.Panel>
        <Tabs.Panel value="uses" pt="md">
          <UsedBy kind={kind} ids={[id, source.sqid]} />
        </Tabs.Panel>
        <Tabs.Panel value="where" pt="md">
          <InstalledList
            filter={{ [`${kind}_id`]: id }}
            of="source"
            check={{ [`${kind}_id`]: id }}
            empty={<Empty title={`This ${kind} is on no target yet`}>Choose Deploy above to deploy it.</Empty>}
          />
        </Tabs.Panel>
        <Tabs.Panel value="deployments" pt="md">
          <SourceDeployments kind={kind} id={id} name={name} />
        </Tabs.Panel>
      </Tabs>
      {isPublishing && (
        <PublishVersion
          kind={kind}
          id={id}
          newest={newest}
          onClose={() => setPublishing(false)}
          onPublished={(version) => {
            setPublishing(false)
            change({ tab: undefined, version })
          }}
        />
      )}
    </Page>
  )
}

function DeleteSource({ kind, id, name }: { kind: Kind; id: string; name: string }) {
  const navigate = useNavigate()
  const remove = useWrite(OPERATIONS[kind].remove, OPERATIONS[kind].list)
  return (
    <ConfirmButton
      label="Delete"
      destroys
      variant="default"
      size="xs"
      question={`Delete ${name} with all its versions? The server refuses this while something uses the ${kind}.`}
      onConfirm={async () => {
        await remove.mutateAsync({ params: { id } })
        await navigate({ to: '/sources', search: { kind } })
      }}
    />
  )
}
