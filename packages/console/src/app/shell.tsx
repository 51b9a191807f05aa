import {
  ActionIcon,
  Anchor,
  AppShell,
  Burger,
  Button,
  Group,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { createSpotlight } from '@mantine/spotlight'
import { Link, Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { useSession } from '../session/session.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Menu } from './menu.tsx'
import { Palette } from './palette.tsx'
import { ShortcutHelp } from './shortcut-help.tsx'
import { useShortcuts } from './shortcuts.ts'

/** The frame: menu, who is logged in, the command palette, the keyboard, and the screen. */
export function Shell() {
  const [menuOpen, menu] = useDisclosure(false)
  // Not Mantine's global palette: the next user must not find what the one before has typed.
  const [[paletteStore, palette]] = useState(createSpotlight)
  const [helpOpen, help] = useDisclosure(false)
  const { user, logout } = useSession()
  useShortcuts(help.open)

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
            <Anchor component={Link} to="/" fw={700} c="inherit" underline="never">
              Slipway
            </Anchor>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" size="xs" onClick={palette.open}>
              Go to…{' '}
              <Text span size="xs" ml={6} visibleFrom="sm">
                Ctrl K
              </Text>
            </Button>
            <ActionIcon variant="default" onClick={help.open} aria-label="Keyboard shortcuts" visibleFrom="sm">
              ?
            </ActionIcon>
            <ThemeButton />
            <Anchor component={Link} to="/account" size="sm" c="inherit" underline="hover" visibleFrom="sm">
              {user.display_name ?? user.username}
            </Anchor>
            <Button variant="subtle" size="xs" onClick={() => void logout()}>
              Log out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar component="nav" aria-label="Screens">
        <Menu onChosen={menu.close} />
      </AppShell.Navbar>
      <AppShell.Main>
        <FirstSteps />
        <Outlet />
      </AppShell.Main>
      <Palette store={paletteStore} onHelp={help.open} />
      <ShortcutHelp opened={helpOpen} onClose={help.close} />
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
