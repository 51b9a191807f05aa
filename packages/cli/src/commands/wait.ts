import { AuthenticationError, ConnectionError, NotFoundError, type Schema, type SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import {
  AccessEndedError,
  EXIT_CODES,
  getExitCodeOfState,
  InterruptedError,
  RefusedError,
  UnreachableError,
  WaitTimeoutError,
} from '../exit-code.ts'
import type { Io } from '../io.ts'
import { sanitize } from '../terminal/controls.ts'
import { formatRefusal } from '../terminal/refusal.ts'
import { summarizeTargets } from '../terminal/results.ts'
import { formatDuration, formatSteps, formatTable, localizeTimes } from '../terminal/table.ts'
import { DeploymentView } from '../terminal/watch.ts'
import type { Context } from './context.ts'
import { addNeeds } from './needs.ts'
import { reportLateAnswer, reportOutages } from './outage.ts'
import { parseDuration } from './values.ts'

export interface WaitOptions {
  wait?: boolean
  follow?: boolean
  /** In milliseconds. */
  timeout?: number
  cancelOnInterrupt?: boolean
}

type Detail = Schema<'DeploymentDetail'>
type Pending = Schema<'PendingRequest'>

const QUEUE_POLL_MS = 1_000
/** A number after the last line of any log. A stream from here sends no lines, only the end. */
const AFTER_LAST_LINE = 999_999_999_999_999

export function addWaitOptions(command: Command): Command {
  const waiting = addFollowOptions(
    command.option('-w, --wait', 'wait until the deployment has ended; the exit code depends on its result'),
  )
  return addNeeds(waiting, ['--timeout', '--cancel-on-interrupt'], ['--wait', '--follow'])
}

export function addFollowOptions(command: Command): Command {
  return command
    .option('-f, --follow', 'wait, and show the log')
    .option('--timeout <duration>', 'how long to wait, for example 30m; then the exit code is 5', parseDuration)
    .option('--cancel-on-interrupt', 'cancel the deployment on Ctrl-C or when the pipeline ends the job')
}

/** A started deployment, or a pending request. */
export type StartResult = { deployment_id: string } | { pending_request_id: string; message: string }

/**
 * Starts a deployment, waits as the options say, and prints the result. Returns the exit code. An interrupt during the
 * start takes effect after the answer of the server. Without the answer, the id for a cancel is unknown.
 */
export async function startAndWait(
  context: Context,
  start: () => Promise<StartResult>,
  options: WaitOptions,
): Promise<number> {
  const state: { deploymentId?: string; pendingId?: string } = {}
  let refused: { error: unknown } | undefined
  try {
    return await runUntilInterrupted(context.io, options.timeout, async (signal) => {
      const started = await start().catch((error: unknown) => {
        refused = { error }
        throw error
      })
      if ('deployment_id' in started) state.deploymentId = started.deployment_id
      else state.pendingId = started.pending_request_id
      signal.throwIfAborted()
      if ('pending_request_id' in started) {
        const dispatched = await waitForDispatch(context, started.pending_request_id, signal)
        if (dispatched === null) return EXIT_CODES.cancelled
        state.deploymentId = dispatched
        context.screen.writeLine(`deployment ${dispatched}`)
      }
      return await watchDeployment(context, state.deploymentId ?? '', options, signal)
    })
  } catch (error) {
    context.screen.end()
    if (refused) throw refused.error
    if (error instanceof InterruptedError && options.cancelOnInterrupt) return await cancel(context, state)
    const end = toEndOfWatching(error)
    if (end === null) throw error
    end.message = `${end.message}\n${formatNextSteps(state)}`
    throw end
  }
}

/** Errors after which the deployment goes on, because only the watching has ended. */
const ENDS_OF_WATCHING = [InterruptedError, WaitTimeoutError, ConnectionError, UnreachableError, AccessEndedError]

/** Returns null if the error says something about the deployment. */
function toEndOfWatching(error: unknown): Error | null {
  // The start was accepted, so the credential has ended since then.
  if (error instanceof AuthenticationError) return new AccessEndedError(formatRefusal(error))
  const isEnd = ENDS_OF_WATCHING.some((type) => error instanceof type)
  return isEnd && error instanceof Error ? error : null
}

/** Runs the body until it ends, the timeout is over, or a signal arrives. */
export async function runUntilInterrupted<T>(
  io: Io,
  timeoutMs: number | undefined,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const ignoreInterrupts = io.onInterrupt(() => stop.abort(new InterruptedError('stopped watching')))
  const onTimeout = () => stop.abort(new WaitTimeoutError('the time of --timeout is over'))
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, Math.min(timeoutMs, 2 ** 31 - 1))
  try {
    return await body(stop.signal)
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    clearTimeout(timer)
    ignoreInterrupts()
  }
}

function formatNextSteps({ deploymentId, pendingId }: { deploymentId?: string; pendingId?: string }): string {
  if (deploymentId) {
    return `deployment ${deploymentId} goes on; watch it again:  slipway logs ${deploymentId} --follow\nor cancel it:  slipway cancel ${deploymentId}`
  }
  return `request ${pendingId} stays in the queue; watch it again:  slipway watch ${pendingId}\nor cancel it:  slipway cancel ${pendingId}`
}

async function cancel(
  { client, screen }: Context,
  { deploymentId, pendingId }: { deploymentId?: string; pendingId?: string },
) {
  if (deploymentId) {
    const body = { reason: 'the command line was interrupted' }
    await client.call('cancelDeployment', { params: { id: deploymentId }, body })
    screen.writeLine(`deployment ${deploymentId} was cancelled`)
  } else if (pendingId) {
    await client.call('cancelPending', { params: { id: pendingId } })
    screen.writeLine(`request ${pendingId} was cancelled`)
  }
  return EXIT_CODES.cancelled
}

/** Waits until the request has left the queue. Returns the id of its deployment, or null if it was cancelled. */
export async function waitForDispatch(context: Context, id: string, signal: AbortSignal): Promise<string | null> {
  const { io, client, screen } = context
  let lastText = ''
  for (;;) {
    const request = await reportLateAnswer(context, () => readPending(client, id, signal))
    if (request.deployment_id) return request.deployment_id
    if (request.status === 'failed') throw new Error(request.error_message ?? 'the request could not be dispatched')
    if (request.status === 'cancelled') {
      screen.writeLine(`request ${id} was cancelled`)
      return null
    }
    const text = `queued${request.position ? `, position ${request.position}` : ''}: ${getWaitingReason(request)}`
    if (text !== lastText) screen.writeLine(text)
    lastText = text
    await io.sleep(QUEUE_POLL_MS, signal)
  }
}

/** Reads a request in the queue, or one that left it. Throws RefusedError if there is none. */
export async function readPending(client: SlipwayClient, id: string, signal?: AbortSignal): Promise<Pending> {
  try {
    return await client.call('getPending', { params: { id }, ...(signal ? { signal } : {}) })
  } catch (error) {
    if (error instanceof NotFoundError) throw new RefusedError(`there is no request ${id} in the queue`)
    throw error
  }
}

export function getWaitingReason(request: Pending): string {
  const { waiting_reason: reason, waiting_for: cause } = request
  return localizeTimes(reason ?? cause?.replaceAll('_', ' ') ?? 'waits for a free instance')
}

async function watchDeployment(
  context: Context,
  id: string,
  options: WaitOptions,
  signal: AbortSignal,
): Promise<number> {
  const { client, screen } = context
  const read = () => client.call('getDeployment', { params: { id }, signal })
  const view = new DeploymentView(await read(), screen, { log: options.follow === true })
  const from = options.follow ? 0 : AFTER_LAST_LINE
  const outages = reportOutages(context, { hasLines: options.follow === true })
  for await (const message of client.followLogs(id, { from, signal, ...outages })) view.show(message)
  screen.end()
  const ended = await read()
  await printResult(context, ended)
  return getExitCodeOfState(ended.state)
}

/** Prints the result of a deployment for each target. */
async function printResult({ output }: Context, deployment: Detail): Promise<void> {
  output.printRecord(deployment, () => {
    const results = summarizeTargets(deployment)
    const rows = results.map(({ target, result, steps, duration: time }) => [sanitize(target), result, steps, time])
    const success = deployment.state === 'success'
    const after = deployment.duration_ms === null ? '' : ` in ${formatDuration(deployment.duration_ms)}`
    return [
      '',
      ...formatTable(['TARGET', 'RESULT', 'STEPS', 'TIME'], rows),
      ...results.flatMap(({ target, reason }) =>
        reason === null ? [] : [output.paint(sanitize(`${target}: ${reason}`), 'red')],
      ),
      '',
      output.paint(`deployment ${deployment.id} ended: ${deployment.state}${after}`, success ? 'green' : 'red'),
      formatSteps(deployment),
      ...(deployment.error_message === null ? [] : [sanitize(deployment.error_message)]),
    ]
  })
}
