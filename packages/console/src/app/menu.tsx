import { Badge, Group, NavLink, ScrollArea, Text } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useSession } from '../session/session.tsx'
import { type Screen, visibleScreens } from './navigation.ts'
import { type Counts, useCounts } from './use-counts.ts'

/** The screens that the user may see, in groups. */
export function Menu({ onChosen }: { onChosen: () => void }) {
  const { can } = useSession()
  const { pathname } = useLocation()
  const counts = useCounts()
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
              rightSection={<Badges path={path} counts={counts} />}
              active={isCurrent(path)}
              aria-current={isCurrent(path) ? 'page' : undefined}
              onClick={onChosen}
            />
          ))}
        </div>
      ))}
      <NavLink
        component="a"
        href="/docs"
        target="_blank"
        rel="noreferrer"
        label="Documentation"
        py={5}
        mt="sm"
        onClick={onChosen}
      />
    </ScrollArea>
  )
}

/** The counts of the menu, beside the screens that show what they count. */
const BADGES: Partial<Record<Screen['path'], { count: keyof Counts; words: string; isUrgent?: true }[]>> = {
  '/deployments': [{ count: 'running', words: 'running' }],
  '/queue': [
    { count: 'pending', words: 'waiting' },
    { count: 'to_approve', words: 'to approve', isUrgent: true },
  ],
}

/** Nothing for a count that is zero or not known. */
function Badges({ path, counts }: { path: Screen['path']; counts: Counts | undefined }) {
  const shown = (BADGES[path] ?? []).flatMap((badge) => {
    const number = counts?.[badge.count] ?? 0
    return number === 0 ? [] : [{ ...badge, number }]
  })
  if (shown.length === 0) return null
  return (
    <Group gap={4} wrap="nowrap">
      {shown.map(({ count, words, isUrgent, number }) => (
        <Badge
          key={count}
          variant="filled"
          color={isUrgent ? '#a8460b' : 'gray.7'}
          c="white"
          autoContrast={false}
          px={6}
          title={`${number.toLocaleString()} ${words}`}
        >
          {number.toLocaleString()}
          <span className="visually-hidden"> {words}</span>
        </Badge>
      ))}
    </Group>
  )
}
