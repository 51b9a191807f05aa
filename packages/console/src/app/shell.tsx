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
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { useIsFetching } from '@tanstack/react-query'
import { Link, Outlet, useRouter } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useState } from 'react'
import { followNavigation } from '../components/arrival.ts'
import { Silence } from '../components/silence.tsx'
import { useSession } from '../session/session.tsx'
import { Endings } from './endings.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Lazy, loadAll, useLazy } from './lazy.tsx'
import { Menu } from './menu.tsx'
import { useShortcuts } from './shortcuts.ts'

/** The frame: menu, who is logged in, the command palette, the keyboard, and the screen. */
export function Shell() {
  const [menuOpen, menu] = useDisclosure(false)
  const [paletteAsked, setPaletteAsked] = useState(0)
  const openPalette = () => setPaletteAsked((count) => count + 1)
  // Also from an input, where someone may be typing.
  useHotkeys([['mod+K', openPalette]], [])
  const [helpAsked, setHelpAsked] = useState(false)
  const [helpOpen, help] = useDisclosure(false, { onOpen: () => setHelpAsked(true) })
  const { user, logout } = useSession()
  useShortcuts(help.open)
  const router = useRouter()
  useEffect(() => followNavigation(router), [router])

  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 190, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
      padding="md"
    >
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a part of the page */}
      <a href="#content" className="skip-link" onClick={skip}>
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={menuOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Anchor component={Link} to="/" fw={700} c="inherit" underline="never">
              Slipway
            </Anchor>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" size="xs" onClick={openPalette}>
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
      <AppShell.Main id="content" tabIndex={-1}>
        <Silence />
        <FirstSteps />
        <Outlet />
      </AppShell.Main>
      <Endings />
      <LoadAll />
      {paletteAsked > 0 && <LazyPart source={PALETTE} props={{ asked: paletteAsked, onHelp: help.open }} />}
      {helpAsked && <LazyPart source={HELP} props={{ opened: helpOpen, onClose: help.close }} />}
    </AppShell>
  )
}

/** The address stays: it belongs to the screen. */
function skip(event: MouseEvent) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

const SETTLE_MS = 2_000

/** Loads the code of the other screens after the first one is complete, so that they open without a network, too. */
function LoadAll() {
  const isReading = useIsFetching() > 0
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (isReading || isDone) return
    const timer = setTimeout(() => {
      setDone(true)
      void loadAll()
    }, SETTLE_MS)
    return () => clearTimeout(timer)
  }, [isReading, isDone])
  return null
}

const PALETTE = new Lazy(async () => (await import('./palette.tsx')).Palette)
const HELP = new Lazy(async () => (await import('./shortcut-help.tsx')).ShortcutHelp)

/** Nothing until its code is there. */
function LazyPart<P extends object>({ source, props }: { source: Lazy<P>; props: P }) {
  const { Component } = useLazy(source)
  return Component && <Component {...props} />
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
