import {
  ActionIcon,
  AppShell,
  Burger,
  Button,
  Group,
  NavLink,
  ScrollArea,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useSession } from '../session/session.tsx'
import { SCREENS } from './navigation.ts'
import { Palette } from './palette.tsx'

/** The frame: menu, who is logged in, the command palette, and the screen. */
export function Shell() {
  const [menuOpen, menu] = useDisclosure(false)
  const [paletteOpen, palette] = useDisclosure(false)
  const { user, can, logout } = useSession()
  const { pathname } = useLocation()
  const visible = SCREENS.filter(({ permission }) => permission === null || can(permission))
  const isCurrent = (path: string) => pathname === path || (path !== '/' && pathname.startsWith(`${path}/`))

  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 190, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={menuOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Text fw={700}>Slipway</Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" size="xs" onClick={palette.open}>
              Go to…{' '}
              <Text span size="xs" ml={6} visibleFrom="sm">
                Ctrl K
              </Text>
            </Button>
            <ThemeButton />
            <Text size="sm" visibleFrom="sm">
              {user.display_name ?? user.username}
            </Text>
            <Button variant="subtle" size="xs" onClick={() => void logout()}>
              Log out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar component="nav" aria-label="Screens">
        <ScrollArea>
          {visible.map(({ path, label }) => (
            <NavLink
              key={path}
              component={Link}
              to={path}
              label={label}
              active={isCurrent(path)}
              aria-current={isCurrent(path) ? 'page' : undefined}
              onClick={menu.close}
            />
          ))}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main>
        <Outlet />
      </AppShell.Main>
      <Palette opened={paletteOpen} onOpen={palette.open} onClose={palette.close} />
    </AppShell>
  )
}

function ThemeButton() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const next = scheme === 'dark' ? 'light' : 'dark'
  return (
    <ActionIcon variant="default" onClick={() => setColorScheme(next)} aria-label={`Use the ${next} theme`}>
      {scheme === 'dark' ? '☀' : '☾'}
    </ActionIcon>
  )
}
