import { Button, Group, Paper, Text } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useRead } from '../api/queries.ts'
import { OPERATIONS } from '../components/source-kinds.ts'
import { useUsualKind } from '../screens/sources/totals.ts'
import { useSession } from '../session/session.tsx'

/** The screens on the way. Elsewhere the bar would only be in the way. */
const SHOWN_ON = ['/', '/deployments', '/targets', '/sources', '/deploy']
const FRESH_MS = 60_000
const ONE = { query: { limit: 1 } }

/** The way from an empty installation to a first deployment: what is done, and what is next. */
export function FirstSteps() {
  const { can } = useSession()
  const { pathname } = useLocation()
  const isShown = SHOWN_ON.some((path) => pathname === path || (path !== '/' && pathname.startsWith(`${path}/`)))
  const mayDeploy = can('deployments:create') && can('deployments:read') && can('targets:read')
  // Now knows of deployments already.
  const isNow = pathname === '/'
  const overview = useRead('getOverview', {}, { enabled: isNow && mayDeploy })
  const isUnknown =
    !isNow || (overview.data !== undefined && overview.data.running.length + overview.data.ended.length === 0)
  const deployments = useRead('listDeployments', ONE, {
    enabled: isShown && mayDeploy && isUnknown,
    freshMs: FRESH_MS,
  })
  const isEmpty = isShown && deployments.data?.meta.total === 0
  const targets = useRead('listTargets', ONE, { enabled: isEmpty })
  const kind = useUsualKind(isEmpty)
  const sources = useRead(OPERATIONS[kind ?? 'action'].list, ONE, { enabled: isEmpty && kind !== null })
  if (!isEmpty || targets.data === undefined || sources.data === undefined || kind === null) return null

  const [target] = targets.data.data
  const [source] = sources.data.data
  const steps = [
    { label: 'Create a target', to: '/targets', search: { new: 'first' }, isDone: target !== undefined },
    { label: 'Create an action', to: '/sources', search: { kind: 'action', new: 'yes' }, isDone: source !== undefined },
    { label: 'Deploy it', to: '/deploy', search: { kind, id: source?.id, targets: target?.id }, isDone: false },
  ]
  const next = steps.find(({ isDone }) => !isDone)
  return (
    <Paper withBorder p="sm" mb="md" component="section" aria-label="Your first deployment">
      <Group gap="xs" mb={4}>
        <Text fw={600} size="sm" mr="sm">
          Your first deployment
        </Text>
        {steps.map((step, index) => (
          <Button
            key={step.to}
            component={Link}
            to={step.to}
            search={step.search as never}
            size="compact-sm"
            variant={step === next ? 'filled' : 'default'}
          >
            {step.isDone ? '✓' : `${index + 1}.`} {step.label}
          </Button>
        ))}
      </Group>
      <Text size="sm">
        A target is where commands run: this server, or another over SSH. An action is a script. A preview comes first.
      </Text>
    </Paper>
  )
}
