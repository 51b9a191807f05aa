import type { FollowOptions } from '@slipway/client'
import { formatDuration } from '../terminal/table.ts'
import type { Context } from './context.ts'

const SECOND = 1_000

/** Says on stderr when the connection is lost, and when it is back. `hasLines`: whether the log is shown. */
export function reportOutages(
  { io, screen }: Pick<Context, 'io' | 'screen'>,
  { hasLines }: { hasLines: boolean },
): Required<Pick<FollowOptions, 'onLost' | 'onBack'>> {
  return {
    onLost({ nextLine, tryForMs }) {
      const last = hasLines && nextLine > 0 ? ` (last line ${nextLine - 1})` : ''
      const seconds = Math.ceil(tryForMs / SECOND)
      screen.writeAside(io.stderr, `connection lost, trying again for up to ${seconds} s${last}`)
    },
    onBack({ awayMs }) {
      screen.writeAside(io.stderr, `connection is back after ${formatDuration(awayMs)}`)
    },
  }
}

/** A server that is up answers a read sooner. */
const SLOW_ANSWER_MS = 2_000

/** Says on stderr when the answer of a read is late: the client then repeats the read. */
export async function reportLateAnswer<T>(
  { io, screen }: Pick<Context, 'io' | 'screen'>,
  read: () => Promise<T>,
): Promise<T> {
  const began = performance.now()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    screen.writeAside(io.stderr, `the server does not answer, trying again for up to ${io.retryForMs / SECOND} s`)
  }, SLOW_ANSWER_MS)
  try {
    const answer = await read()
    if (isLate)
      screen.writeAside(io.stderr, `the server answers again after ${formatDuration(performance.now() - began)}`)
    return answer
  } finally {
    clearTimeout(timer)
  }
}
