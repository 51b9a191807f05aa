import { Anchor, List } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { Fragment } from 'react'
import { useSession } from '../session/session.tsx'
import { withLocalTimes } from './local-times.ts'
import { TimeAgo } from './time-ago.tsx'

type Blocker = Answer<'previewDeployment'>['blockers'][number]
type Code = Blocker['code']

/** Their sentences name the end already. */
const TELLS_ITS_END: ReadonlySet<Code> = new Set(['start_time', 'window', 'freeze'])

/** All that keeps a deployment from starting, in sentences, each with its end and with links to what blocks. */
export function BlockerList({ blockers }: { blockers: readonly Blocker[] }) {
  return (
    <List size="sm" listStyleType={blockers.length > 1 ? 'disc' : 'none'}>
      {blockers.map((blocker) => (
        <List.Item key={blocker.code}>
          {withLocalTimes(blocker.message)}
          <Until blocker={blocker} />
          <Causes blocker={blocker} />
        </List.Item>
      ))}
    </List>
  )
}

function Until({ blocker: { code, until } }: { blocker: Blocker }) {
  if (until === null || TELLS_ITS_END.has(code)) return null
  return (
    <>
      {', until about '}
      <TimeAgo at={until} />
    </>
  )
}

const SCREENS: Partial<Record<Code, { to: string; label: string; permission: string }>> = {
  freeze: { to: '/freezes', label: 'Show the freezes', permission: 'freezes:read' },
  window: { to: '/environments', label: 'Show the environments', permission: 'environments:read' },
  promotion: { to: '/matrix', label: 'Show the matrix', permission: 'deployments:read' },
  instance_pool: { to: '/instances', label: 'Show the instances', permission: 'instances:read' },
  no_compatible_instance: { to: '/instances', label: 'Show the instances', permission: 'instances:read' },
}

function Causes({ blocker: { code, details } }: { blocker: Blocker }) {
  const { can } = useSession()
  const screen = SCREENS[code]
  const holders = new Map((details.held_targets ?? []).map((held) => [held.deployment_id, held.target_name]))
  const links = [
    ...(screen !== undefined && can(screen.permission) ? [screen] : []),
    ...[...holders].flatMap(([id, name]) =>
      id === undefined ? [] : [{ to: `/deployments/${id}`, label: `Show the deployment that holds ${name}` }],
    ),
  ]
  return links.map(({ to, label }) => (
    <Fragment key={to}>
      {' '}
      <Anchor component={Link} to={to} size="xs" c="inherit" underline="always">
        {label}
      </Anchor>
    </Fragment>
  ))
}
