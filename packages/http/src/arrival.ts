import type { IncomingMessage } from 'node:http'

/** The time in which a request must arrive, and the longest pause of an upload. */
const ARRIVAL_MS = 60_000
/** The longest upload: 1 GiB at 50 KiB a second. */
const UPLOAD_MS = 6 * 3_600_000

const bounds = new WeakMap<IncomingMessage, { timer: NodeJS.Timeout; since: number }>()

/** Calls `late` if the body of the request is not complete in time. */
export function limitArrivalTime(request: IncomingMessage, late: () => void): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  if (length === '0' && encoding === undefined) return
  const timer = setTimeout(() => {
    if (!request.complete) late()
  }, ARRIVAL_MS)
  timer.unref()
  bounds.set(request, { timer, since: performance.now() })
  request.once('close', () => clearTimeout(timer))
}

/** Restarts the time limit, because a part of an upload has arrived. */
export function extendArrivalTime(request: IncomingMessage): void {
  const bound = bounds.get(request)
  if (bound !== undefined && performance.now() - bound.since < UPLOAD_MS) bound.timer.refresh()
}
