import { Badge, NavLink, ScrollArea, Text } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useRead } from '../api/queries.ts'
import { counted } from '../components/counted.ts'
import { useSession } from '../session/session.tsx'
import { visibleScreens } from './navigation.ts'

/** The screens that the user may see, in groups. */
export function Menu({ onChosen }: { onChosen: () => void }) {
  const { can } = useSession()
  const { pathname } = useLocation()
  const isCurrent = (path: string) => pathname === path || (path !== '/' && pathname.startsWith(`${path}/`))
  return (
    <ScrollArea pb="md">
      {[...Map.groupBy(visibleScreens(can), ({ group }) => group)].map(([group, screens]) => (
        <div key={group}>
          <Text size="xs" fw={600} c="dimmed" px="sm" pt="sm" pb={4}>
            {group}
          </Text>
          {screens.map(({ path, label, key }) => (
            <NavLink
              key={path}
              component={Link}
              to={path}
              label={label}
              title={`g ${key}`}
              py={5}
              rightSection={path === '/queue' && <ToApprove />}
              active={isCurrent(path)}
              aria-current={isCurrent(path) ? 'page' : undefined}
              onClick={onChosen}
            />
          ))}
        </div>
      ))}
    </ScrollArea>
  )
}

const EVERY_MS = 30_000

/** How many requests wait for an approval that the user may give. It shares the list that the queue and Now read. */
function ToApprove() {
  const { can } = useSession()
  const enabled = can('deployments:approve')
  const pending = useRead('listPending', { query: { status: 'pending' } }, { enabled, everyMs: EVERY_MS })
  const count = pending.data?.filter(({ can_approve }) => can_approve).length ?? 0
  if (count === 0) return null
  return (
    <Badge
      variant="filled"
      color="#a8460b"
      c="white"
      autoContrast={false}
      title={`${counted(count, 'request')} to approve`}
    >
      {count.toLocaleString()}
      <span className="visually-hidden"> to approve</span>
    </Badge>
  )
}
