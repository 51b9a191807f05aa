import { useLocalStorage } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useSession } from '../session/session.tsx'
import { visibleScreens } from './navigation.ts'

/** How long a g waits for the key of a screen. */
const SECOND_KEY_MS = 1_500

/** Single keys can be switched off, for people whose software of speech or input types letters (WCAG 2.1.4). */
export const useSingleKeys = () => useLocalStorage({ key: 'slipway-single-keys', defaultValue: true })

/** The keys of every screen; `shortcut-help.tsx` lists them. */
export function useShortcuts(onHelp: () => void): void {
  const [isOn] = useSingleKeys()
  const { can } = useSession()
  const navigate = useNavigate()
  const prefixAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    if (!isOn) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isBusy(event.target)) return
      const follows = event.timeStamp - prefixAt.current < SECOND_KEY_MS
      prefixAt.current = event.key === 'g' && !follows ? event.timeStamp : Number.NEGATIVE_INFINITY
      if (follows) {
        const screen = visibleScreens(can).find(({ key }) => key === event.key)
        if (screen) void navigate({ to: screen.path })
        return
      }
      const act = { '?': onHelp, '/': focusSearch, j: () => moveRow(1), k: () => moveRow(-1) }[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [isOn, can, navigate, onHelp])
}

/** While someone types, or a dialog is open, keys mean something else. */
const isBusy = (target: EventTarget | null) =>
  document.querySelector('[role=dialog]') !== null ||
  (target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null)

function focusSearch() {
  const input = document.querySelector<HTMLInputElement>('main input[type=search]')
  ;(input ?? document.querySelector<HTMLInputElement>('main input'))?.focus()
}

/** Focuses the first link or button of the next row, so that Enter opens it. */
function moveRow(step: number) {
  const rows = [...document.querySelectorAll('main tbody tr')].flatMap((row) => {
    const control = row.querySelector<HTMLElement>('a, button')
    return control ? [{ row, control }] : []
  })
  const at = rows.findIndex(({ row }) => row.contains(document.activeElement))
  const next = rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step]
  next?.control.focus()
  next?.row.scrollIntoView({ block: 'nearest' })
}
