import { NotFoundError, type Schema } from '@slipway/client'
import { readLastRun } from '../configuration/last-run.ts'
import { RefusedError } from '../exit-code.ts'
import type { Context } from './context.ts'
import { formatSource } from './deployment-list.ts'
import { chooseEntry } from './entries.ts'
import { take } from './lists.ts'
import { describeAmbiguity, UUID } from './records.ts'
import { getWaitingReason, readPending } from './wait.ts'

/** Finds deployments by their id, its beginning, `@last`, or the id of the pending request that they came from. */

type Pending = Schema<'PendingRequest'>

export const DEPLOYMENT_ARGUMENT = 'id of the deployment, the beginning of it, or @last'

export const LAST = '@last'
/**
 * An id begins with its time. 8 digits leave about a minute, so the command line reads the deployments of this minute. 4 digits
 * leave 50 days.
 */
const MIN_DIGITS = 8
const TIME_DIGITS = 12
const UUID_DIGITS = 32
const CLOCK_SLACK_MS = 60_000

/** Returns the whole id that the reference means: of a deployment or of a pending request. */
export async function resolveId(context: Context, reference: string): Promise<string> {
  if (reference === LAST) return readLast(context)
  if (UUID.test(reference)) return reference
  const digits = reference.replaceAll('-', '')
  if (!/^[0-9a-f]*$/i.test(digits) || digits.length > UUID_DIGITS) {
    const what = `the id, its first ${MIN_DIGITS} characters or more, or ${LAST}`
    throw new RefusedError(`"${reference}" is not the id of a deployment or of a request: give ${what}`)
  }
  if (digits.length < MIN_DIGITS) {
    throw new RefusedError(
      `"${reference}" is too short for the id of a deployment: give at least ${MIN_DIGITS} characters, or ${LAST}`,
    )
  }
  const found = await findByPrefix(context, reference.toLowerCase())
  const [first, another] = found
  if (first === undefined)
    throw new RefusedError(`no deployment and no request has an id that begins with "${reference}"`)
  if (another !== undefined) throw new RefusedError(describeAmbiguity('deployments', reference, found))
  return first.id
}

function readLast({ io, url }: Context): string {
  const id = readLastRun(io, url)
  if (id === undefined)
    throw new RefusedError(`${LAST}: nothing was deployed to ${url} from here yet; give an id instead`)
  return id
}

/** Returns the whole id of a request in the queue, or of one that left it. Unlike deployments, requests are few. */
export async function resolveRequestId(context: Context, reference: string): Promise<string> {
  if (reference === LAST || UUID.test(reference)) return await resolveId(context, reference)
  const requests = await listRequests(context)
  return (await chooseEntry('request', requests.map(toCandidate), reference)).id
}

/** The lists of requests. Without a status: those in the queue. */
const PENDING_STATUSES = [undefined, 'dispatched', 'failed', 'cancelled'] as const

async function listRequests({ client }: Context): Promise<Pending[]> {
  const lists = await Promise.all(
    PENDING_STATUSES.map((status) => client.call('listPending', { query: status ? { status } : {} })),
  )
  return [...new Map(lists.flat().map((request) => [request.id, request])).values()]
}

const toCandidate = ({ id, source_name }: Pending) => ({ id, name: `pending ${source_name ?? ''}`.trim() })

async function findByPrefix(context: Context, prefix: string): Promise<{ id: string; name: string }[]> {
  const [from, to] = getTimeRange(prefix)
  const hasPrefix = ({ id }: { id: string }) => id.startsWith(prefix)
  const requests = await listRequests(context)
  const query = { created_from: from.toISOString(), created_before: to.toISOString() }
  const deployments = from < to ? await take(context.client.each('listDeployments', { query })) : []
  const found = deployments.filter(hasPrefix).map((one) => ({ id: one.id, name: formatSource(one) }))
  const isNew = ({ deployment_id }: Pending) => !found.some(({ id }) => id === deployment_id)
  const pending = requests.filter((request) => hasPrefix(request) && isNew(request))
  return [...found, ...pending.map(toCandidate)]
}

/** An id begins with its time. Deployments are written within moments after it. */
function getTimeRange(prefix: string): [Date, Date] {
  const digits = prefix.replaceAll('-', '').slice(0, TIME_DIGITS)
  const read = (fill: string) => Number.parseInt(digits.padEnd(TIME_DIGITS, fill), 16)
  const latest = Date.now() + CLOCK_SLACK_MS
  const clamp = (ms: number) => new Date(Math.min(Math.max(ms, 0), latest))
  return [clamp(read('0') - CLOCK_SLACK_MS), clamp(read('f') + CLOCK_SLACK_MS)]
}

/** Throws that the request still waits. */
export function refuseWhilePending(request: Pending): never {
  const reason =
    request.status === 'pending' ? `waits in the queue: ${getWaitingReason(request)}` : `is ${request.status}`
  throw new RefusedError(`request ${request.id} has no deployment, because it ${reason}`)
}

/**
 * Calls the body with the id of the deployment. If the id is that of a request, this is the deployment that came from it, or
 * `whilePending` is called if there is none.
 */
export async function withDeployment<T>(
  context: Context,
  reference: string,
  body: (id: string) => Promise<T>,
  whilePending: (request: Pending) => Promise<T> | T = refuseWhilePending,
): Promise<T> {
  const id = await resolveId(context, reference)
  try {
    return await body(id)
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error
    const request = await readPending(context.client, id).catch(() => undefined)
    if (request === undefined) throw error
    return request.deployment_id === undefined ? await whilePending(request) : await body(request.deployment_id)
  }
}
