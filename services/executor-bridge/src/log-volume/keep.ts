import type { StoredLine } from '@slipway/contracts'
import { LOG_LIMITS, type LogLimit } from '@slipway/domain'

/** Bytes by limit: the maximum, or what is used. As a maximum, 0 is no limit. */
export type LogBytes = Record<LogLimit, number>

/** Lines of Slipway, such as those about failures, may exceed a limit by a tenth of it, at least by this much. */
const SYSTEM_BYTES = 16 * 1024 * 1024

const SETTINGS = { deployment: 'SLIPWAY_LOG_DEPLOYMENT_BYTES', tenant_day: 'SLIPWAY_LOG_TENANT_DAY_BYTES' } as const

export interface DroppedLines {
  target: number
  action: number
  lines: number
}

interface KeptLines {
  lines: StoredLine[]
  /** The dropped output lines of each command. */
  dropped: DroppedLines[]
  /** The limit that the run has reached; null for none. */
  dropping: LogLimit | null
}

/**
 * The lines of a batch that are stored. Decides for the whole batch, so the log exceeds a limit by one batch at most. The first
 * dropped line is replaced by one that names the limit; `reported` is the limit that an earlier batch has named.
 */
export function keepWithinLimits(
  lines: readonly StoredLine[],
  limits: LogBytes,
  used: LogBytes,
  reported: LogLimit | null,
): KeptLines {
  const dropping = LOG_LIMITS.find((limit) => limits[limit] > 0 && used[limit] >= limits[limit]) ?? null
  if (dropping === null) {
    // Without new lines, nothing tells that the output is stored again.
    return { lines: [...lines], dropped: [], dropping: lines.length > 0 ? null : reported }
  }
  const isFull = LOG_LIMITS.some(
    (limit) => limits[limit] > 0 && used[limit] >= limits[limit] + reserveOf(limits[limit]),
  )
  const dropped = new Map<string, DroppedLines>()
  const kept: StoredLine[] = []
  let isReported = reported === dropping
  for (const line of lines) {
    if (line.s === 's' && !isFull) {
      kept.push(line)
      continue
    }
    if (line.s !== 's' && line.i !== null && line.a !== null) count(dropped, line.i, line.a)
    if (isReported) continue
    isReported = true
    kept.push(noticeOf(dropping, limits[dropping], line.t))
  }
  return { lines: kept, dropped: [...dropped.values()], dropping: isReported ? dropping : reported }
}

const reserveOf = (limit: number) => Math.max(limit / 10, SYSTEM_BYTES)

function count(dropped: Map<string, DroppedLines>, target: number, action: number): void {
  const key = `${target}/${action}`
  const known = dropped.get(key)
  if (known) known.lines += 1
  else dropped.set(key, { target, action, lines: 1 })
}

function noticeOf(limit: LogLimit, bytes: number, t: number): StoredLine {
  const reached = `${bytes} bytes (${SETTINGS[limit]})`
  const what =
    limit === 'deployment'
      ? `This deployment has logged ${reached}`
      : `The deployments of this tenant have logged ${reached} today`
  const m =
    `${what}: further output of commands is dropped. The commands run on. ` +
    'To keep more output, raise the limit of the executor-bridge'
  return { t, i: null, a: null, s: 's', l: 'warning', m, x: { log_limit: limit, limit_bytes: bytes } }
}
