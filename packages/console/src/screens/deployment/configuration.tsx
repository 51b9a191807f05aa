import { Anchor, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo } from 'react'
import { counted } from '../../components/counted.ts'
import { CAPITALIZED } from '../../components/source-kinds.ts'
import { TagLinks } from '../../components/tags.tsx'
import { TargetNames } from '../../components/target-names.tsx'
import { duration } from '../../components/time-ago.tsx'
import { VariableValue } from '../../components/variable-value.tsx'
import { useSession } from '../../session/session.tsx'
import { strategyOf } from '../deploy/strategy-text.ts'
import type { Plan } from './grid-rows.ts'

type Deployment = Answer<'getDeployment'>

const MAX_NAMED = 5

/** How the deployment was asked for, and the values that its commands got. Secrets are masked by the server. */
export function Configuration({ deployment }: { deployment: Deployment }) {
  const { plan } = deployment
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack>
        <Facts title="Settings" facts={settingsOf(deployment)} />
        {plan && <Facts title="Versions" facts={plan.versions.map(versionFact)} />}
      </Stack>
      <Stack>
        <Values title="Values of the request" values={deployment.config.variables} />
        <Values title="Resolved values" values={plan?.resolved_variables ?? {}} />
      </Stack>
    </SimpleGrid>
  )
}

type Fact = [name: ReactNode, value: ReactNode]

function settingsOf(deployment: Deployment): Fact[] {
  const { config, plan, environment_name, tenant_name, source_deployment_id } = deployment
  const { environment_id, target_tags, unchanged_target_ids, priority, timeout_seconds, max_retries } = config
  return [
    [
      'Environment',
      environment_id === null ? (
        'none'
      ) : (
        <ScreenLink key="environment" permission="targets:read" to="/targets" search={{ environment: environment_id }}>
          {environment_name ?? environment_id}
        </ScreenLink>
      ),
    ],
    ...(tenant_name === null ? [] : [['Tenant', tenant_name] satisfies Fact]),
    ['How it runs', strategyOf(config)],
    ['Targets', plan === null ? counted(config.target_ids.length, 'target') : <Targets key="targets" plan={plan} />],
    ...(target_tags.length === 0
      ? []
      : [['Selected by tags', <TagLinks key="tags" tags={target_tags} />] satisfies Fact]),
    // The list itself may have thousands of ids.
    ...(unchanged_target_ids === undefined
      ? []
      : [['Left out, because nothing changes', counted(unchanged_target_ids.length, 'target')] satisfies Fact]),
    ['Priority in the queue', priority],
    ['Time for each attempt', duration(timeout_seconds * 1_000)],
    ['Retries of a failed command', max_retries === 0 ? 'none' : max_retries],
    ...(source_deployment_id === undefined
      ? []
      : [
          [
            'Repeats',
            <Anchor key="former" component={Link} to={`/deployments/${source_deployment_id}`} size="sm">
              an earlier deployment
            </Anchor>,
          ] satisfies Fact,
        ]),
  ]
}

function versionFact({ kind, id, name, version }: Plan['versions'][number]): Fact {
  return [
    CAPITALIZED[kind],
    <ScreenLink key={id} permission={`${kind}s:read`} to={`/sources/${kind}s/${id}`} search={{ version }}>
      {name} {version}
    </ScreenLink>,
  ]
}

interface LinkProps {
  permission: Parameters<ReturnType<typeof useSession>['can']>[0]
  to: string
  search: Record<string, string>
  children: ReactNode
}

/** A link for those who may read what it leads to. */
function ScreenLink({ permission, to, search, children }: LinkProps) {
  const { can } = useSession()
  if (!can(permission)) return <>{children}</>
  return (
    <Anchor component={Link} to={to} search={search as never} size="sm">
      {children}
    </Anchor>
  )
}

/** The first targets by name. */
function Targets({ plan }: { plan: Plan }) {
  const targets = useMemo(() => {
    const first = new Map<string, string>()
    for (const { target_id, target_name } of plan.steps) {
      first.set(target_id, target_name)
      if (first.size === MAX_NAMED) break
    }
    return [...first].map(([id, name]) => ({ id, name }))
  }, [plan])
  return <TargetNames targets={targets} count={plan.target_count} />
}

function Values({ title, values }: { title: string; values: Record<string, unknown> }) {
  const facts = Object.entries(values).map(([name, value]): Fact => [name, <VariableValue key={name} value={value} />])
  return <Facts title={title} facts={facts} />
}

function Facts({ title, facts }: { title: string; facts: Fact[] }) {
  return (
    <div>
      <Title order={2} size="h5">
        {title}
      </Title>
      {facts.length === 0 ? (
        <Text size="sm">None</Text>
      ) : (
        <Table>
          <Table.Tbody>
            {facts.map(([name, value], index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a deployment never change
              <Table.Tr key={index}>
                <Table.Th w={200}>{name}</Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </div>
  )
}
