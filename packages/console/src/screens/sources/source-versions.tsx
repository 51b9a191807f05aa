import { Grid, Group, NavLink, ScrollArea, Stack, Text, Title } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useRead } from '../../api/queries.ts'
import { DeployTo } from '../../components/deploy-to.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { type Kind, OPERATIONS } from '../../components/source-kinds.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { DefinitionView } from './definition-view.tsx'
import { SourceParts } from './source-parts.tsx'

interface Props {
  kind: Kind
  source: Answer<'getAction'>
  chosen: string | undefined
  onChoose: (version: string) => void
}

/** The versions, newest first, beside the definition of the chosen one. */
export function SourceVersions({ kind, source, chosen, onChoose }: Props) {
  if (chosen === undefined) return <Empty title="There is no version yet">Publish one to deploy this {kind}.</Empty>
  return (
    <Grid>
      <Grid.Col span={{ base: 12, sm: 3 }}>
        <ScrollArea.Autosize mah="75vh">
          {source.versions.map(({ version, created_at }) => (
            <NavLink
              key={version}
              component="button"
              label={version}
              description={<TimeAgo at={created_at} />}
              active={version === chosen}
              styles={{ description: { opacity: 1, color: 'inherit' } }}
              aria-current={version === chosen ? 'true' : undefined}
              onClick={() => onChoose(version)}
            />
          ))}
        </ScrollArea.Autosize>
      </Grid.Col>
      <Grid.Col span={{ base: 12, sm: 9 }}>
        <ChosenVersion kind={kind} id={source.id} version={chosen} />
      </Grid.Col>
    </Grid>
  )
}

function ChosenVersion({ kind, id, version }: { kind: Kind; id: string; version: string }) {
  const { can } = useSession()
  const read = useRead(OPERATIONS[kind].getVersion, { params: { id, version } })
  return (
    <Loaded read={read}>
      {({ definition, created_at }) => (
        <Stack gap="sm">
          <Group>
            <Title order={2} size="h5">
              {version}{' '}
              <Text span size="sm" fw={400}>
                published <TimeAgo at={created_at} />
              </Text>
            </Title>
            {can('deployments:create') && (
              <DeployTo kind={kind} id={id} version={version} size="compact-sm" variant="default" />
            )}
          </Group>
          <SourceParts kind={kind} definition={definition} />
          <DefinitionView definition={definition} />
        </Stack>
      )}
    </Loaded>
  )
}
