import type { Item } from '@slipway/client'

export type Freeze = Item<'listFreezes'>

/** Milliseconds since 1970. */
export interface Window {
  start: number
  end: number
}

/** The windows that the API tells: the present one, and the next ones in order. */
export const windowsOf = ({ windows }: Freeze): Window[] =>
  windows.map(({ starts_at, ends_at }) => ({ start: Date.parse(starts_at), end: Date.parse(ends_at) }))

export const isOpen = ({ start, end }: Window, now: number): boolean => start <= now && now < end

export const presentWindow = (freeze: Freeze, now: number): Window | undefined =>
  windowsOf(freeze).find((window) => isOpen(window, now))

export const nextWindow = (freeze: Freeze, now: number): Window | undefined =>
  windowsOf(freeze).find(({ start }) => start > now)
