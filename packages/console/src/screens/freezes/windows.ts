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

const format = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** In the time zone of the browser. */
export const formatMoment = (moment: number) => format.format(moment)
export const formatWindow = ({ start, end }: Window) => format.formatRange(start, end)
