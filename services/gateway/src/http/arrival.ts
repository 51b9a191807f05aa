import type { IncomingMessage } from 'node:http'

/** How long a request may take to arrive; how long an upload may bring nothing. */
const ARRIVAL_MS = 60_000
/** How long the slowest upload may take: 1 GiB at 50 KiB a second. */
const UPLOAD_MS = 6 * 3_600_000

const bounds = new WeakMap<IncomingMessage, { timer: NodeJS.Timeout; since: number }>()

/** Calls `late` when the body of a request takes longer to arrive than it may. */
export function boundArrival(request: IncomingMessage, late: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  if (length === '0' && encoding === undefined) return
  const timer = setTimeout(() => {
    if (!request.complete) late()
  }, ARRIVAL_MS)
  timer.unref()
  bounds.set(request, { timer, since: performance.now() })
  request.once('close', () => clearTimeout(timer))
}

/** A piece of an upload has come: from now on the next may take as long again. */
export function keepsArriving(request: IncomingMessage): void {
  const bound = bounds.get(request)
  if (bound !== undefined && performance.now() - bound.since < UPLOAD_MS) bound.timer.refresh()
}
