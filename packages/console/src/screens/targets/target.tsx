import { SimpleGrid, Stack } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useLive } from '../../api/live.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { shellQuoted } from '../../components/commands.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../session/session.tsx'
import { useRight } from '../../session/use-right.ts'
import { InstalledList } from '../releases/installed-list.tsx'
import { TargetAgent } from './target-agent.tsx'
import { TargetConnection } from './target-connection.tsx'
import { TargetFacts } from './target-facts.tsx'
import { TargetHistory } from './target-history.tsx'
import { TargetTags } from './target-tags.tsx'
import { TargetVariables } from './target-variables.tsx'

export function Target() {
  const { id = '' }: { id?: string } = useParams({ strict: false })
  useLive('getTarget', 'getTargetAgent')
  const read = useRead('getTarget', { params: { id } })
  const { can } = useSession()
  const target = read.data
  return (
    <Page
      title={target?.name ?? 'Target'}
      command={`slipway targets show ${target?.sqid ?? id}`}
      actions={target && <Actions target={target} />}
    >
      <Loaded read={read}>
        {(target) => (
          <>
            {can('deployments:read') && <TargetInstalled id={target.id} name={target.name} />}
            <SimpleGrid cols={{ base: 1, lg: 2 }}>
              <Stack>
                <TargetFacts target={target} />
                <TargetTags target={target} />
              </Stack>
              <Stack>
                <TargetConnection target={target} />
                {target.connection.type === 'agent' && <TargetAgent target={target} />}
                <TargetVariables target={target} />
              </Stack>
            </SimpleGrid>
            {can('deployments:read') && <TargetHistory id={target.id} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Actions({ target: { id, name, enabled, environment_id } }: { target: Answer<'getTarget'> }) {
  const mayDeploy = useRight('deployments:create', { kind: 'deployment', environment_id })
  const mayUpdate = useRight('targets:update', { kind: 'target', environment_id })
  const mayDelete = useRight('targets:delete', { kind: 'target', environment_id })
  const navigate = useNavigate()
  const update = useWrite('updateTarget', 'getTarget', 'listTargets')
  const remove = useWrite('deleteTarget', 'listTargets')
  const deleteAndLeave = async () => {
    await remove.mutateAsync({ params: { id } })
    await navigate({ to: '/targets' })
  }
  return (
    <>
      {enabled && (
        <LinkButton may={mayDeploy} to="/deploy" search={{ targets: id }} size="xs">
          Deploy to it
        </LinkButton>
      )}
      <ConfirmButton
        may={mayUpdate}
        size="xs"
        variant="default"
        label={enabled ? 'Disable' : 'Enable'}
        question={
          enabled
            ? `Deployments leave ${name} out until it is enabled again.`
            : `${name} takes part in deployments again.`
        }
        onConfirm={() => update.mutateAsync({ params: { id }, body: { enabled: !enabled } })}
      />
      <ConfirmButton
        may={mayDelete}
        size="xs"
        variant="default"
        label="Delete"
        destroys
        question={`The target ${name} is deleted, with its connection and variables. Slipway refuses this while a run uses the target.`}
        onConfirm={deleteAndLeave}
      />
    </>
  )
}

/** The version of each source that is in force on the target. */
function TargetInstalled({ id, name }: { id: string; name: string }) {
  return (
    <Section title="What is installed">
      <InstalledList
        filter={{ target_id: id }}
        of="target"
        check={{ target_ids: [id] }}
        command={`slipway on ${shellQuoted(name)}`}
        empty={<Empty title="Nothing is installed yet">Deploy to it with the button above.</Empty>}
      />
    </Section>
  )
}
