import { Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

function words(at: Date, now: number): string {
  // The text is up to ten seconds old, and two clocks differ.
  const ahead = at.getTime() - now
  const seconds = Math.round((ahead > 0 && ahead < 15_000 ? 0 : ahead) / 1_000)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
  return relative.format(Math.round(seconds / size), unit)
}

const dateOf = (at: string) => new Date(/^\d{4}-\d{2}-\d{2} /.test(at) ? `${at.replace(' ', 'T')}Z` : at)

/** A time to the second, in the zone of the browser. */
export const exactTime = (at: string): string => exact.format(dateOf(at))

const TICK_MS = 10_000
const tickListeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | null = null

const tick = () => {
  for (const tell of tickListeners) tell()
}

/** One timer for all times on the page. */
function onTick(listener: () => void): () => void {
  timer ??= setInterval(tick, TICK_MS)
  tickListeners.add(listener)
  return () => {
    tickListeners.delete(listener)
    if (tickListeners.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

/** A time as "3 min ago"; on hover the exact one, here and in UTC. `at` is as the API writes it; without a zone it is UTC. */
export function TimeAgo({ at }: { at: string | null | undefined }) {
  return at ? <Moment date={dateOf(at)} /> : <>–</>
}

function Moment({ date }: { date: Date }) {
  // Only the times whose text changes are drawn again.
  const text = useSyncExternalStore(onTick, () => words(date, Date.now()))
  const utc = `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
  return (
    <Tooltip
      label={
        <>
          {exact.format(date)}
          <br />
          {utc}
        </>
      }
    >
      <time dateTime={date.toISOString()}>{text}</time>
    </Tooltip>
  )
}

/** Milliseconds as "1 h 3 min", "42.1 s". */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
