import { NavLink, ScrollArea, Text } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
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
