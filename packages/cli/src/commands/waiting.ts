import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionError, type Schema, type SlipwayClient } from '@slipway/client'
import type { Command } from 'commander'
import { EXIT, exitCodeOfState, Interrupted, Refused, WaitedTooLong } from '../exit-code.ts'
import { harmless } from '../terminal/colour.ts'
import { resultsOf } from '../terminal/results.ts'
import { durationText, stepsText, table } from '../terminal/table.ts'
import { Watch } from '../terminal/watch.ts'
import type { Context } from './context.ts'
import { duration } from './values.ts'

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
/** Behind the last line of any log: of interest is how it ends. */
const NO_LINES = 999_999_999_999_999

export function addWaiting(command: Command): Command {
  return command
    .option('-w, --wait', 'wait until the deployment has ended; the exit code says how')
    .option('-f, --follow', 'wait, and show the log meanwhile')
    .option('--timeout <duration>', 'how long to wait, for example 30m; then the exit code is 5', duration)
    .option('--cancel-on-interrupt', 'cancel the deployment on Ctrl-C or when the pipeline ends the job')
}

/** Something that was set going and may be waited for. */
export type Started = { deployment_id: string } | { pending_request_id: string; message: string }

/**
 * Sets something going and waits as the options say; says how it ended. Returns the exit code. Who interrupts before the
 * server has answered is heard when it has: until then there may be something to cancel, and nobody knows its id.
 */
export async function waitFor(context: Context, start: () => Promise<Started>, options: WaitOptions): Promise<number> {
  const state: { deploymentId?: string; pendingId?: string } = {}
  let refused: { error: unknown } | undefined
  try {
    return await whileWanted(options.timeout, async (signal) => {
      const started = await start().catch((error: unknown) => {
        refused = { error }
        throw error
      })
      if ('deployment_id' in started) state.deploymentId = started.deployment_id
      else state.pendingId = started.pending_request_id
      signal.throwIfAborted()
      if ('pending_request_id' in started) {
        const dispatched = await dispatch(context, started.pending_request_id, signal)
        if (dispatched === null) return EXIT.cancelled
        state.deploymentId = dispatched
        context.screen.line(`deployment ${dispatched}`)
      }
      return await watch(context, state.deploymentId ?? '', options, signal)
    })
  } catch (error) {
    context.screen.end()
    if (refused) throw refused.error
    if (error instanceof Interrupted && options.cancelOnInterrupt) return await cancel(context, state)
    if (error instanceof Interrupted || error instanceof WaitedTooLong || error instanceof ConnectionError) {
      error.message = `${error.message}\n${howToGoOn(state)}`
    }
    throw error
  }
}

/** Runs the body until it is done, the time is over, or somebody wants no more. */
export async function whileWanted<T>(
  timeoutMs: number | undefined,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  const interrupted = () => {
    // Who presses it twice means it.
    if (stop.signal.aborted) process.exit(EXIT.interrupted)
    stop.abort(new Interrupted('stopped watching'))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, interrupted)
  const over = () => stop.abort(new WaitedTooLong('waited as long as --timeout allows'))
  const timer = timeoutMs === undefined ? undefined : setTimeout(over, Math.min(timeoutMs, 2 ** 31 - 1))
  try {
    return await body(stop.signal)
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    clearTimeout(timer)
    for (const name of signals) process.off(name, interrupted)
  }
}

function howToGoOn({ deploymentId, pendingId }: { deploymentId?: string; pendingId?: string }): string {
  if (deploymentId) {
    return `deployment ${deploymentId} goes on; watch it again:  slipway logs ${deploymentId} --follow\nor cancel it:  slipway cancel ${deploymentId}`
  }
  return `request ${pendingId} stays in the queue; look at it:  slipway pending why ${pendingId}\nor cancel it:  slipway pending cancel ${pendingId}`
}

async function cancel(
  { client, screen }: Context,
  { deploymentId, pendingId }: { deploymentId?: string; pendingId?: string },
) {
  if (deploymentId) {
    const body = { reason: 'the command line was interrupted' }
    await client.call('cancelDeployment', { params: { id: deploymentId }, body })
    screen.line(`deployment ${deploymentId} was cancelled`)
  } else if (pendingId) {
    await client.call('cancelPending', { params: { id: pendingId } })
    screen.line(`request ${pendingId} was cancelled`)
  }
  return EXIT.cancelled
}

/** Waits until the request has left the queue; resolves to its deployment, or null when it was cancelled. */
async function dispatch({ client, screen }: Context, id: string, signal: AbortSignal): Promise<string | null> {
  let said = ''
  for (;;) {
    const request = await findPending(client, id, signal)
    if (request.deployment_id) return request.deployment_id
    if (request.status === 'failed') throw new Error(request.error_message ?? 'the request could not be dispatched')
    if (request.status === 'cancelled') {
      screen.line(`request ${id} was cancelled`)
      return null
    }
    const text = `queued${request.position ? `, place ${request.position}` : ''}: ${waitingReason(request)}`
    if (text !== said) {
      screen.line(text)
      said = text
    }
    await sleep(QUEUE_POLL_MS, undefined, { signal })
  }
}

/** A request, wherever it has gone from the queue. Throws Refused where it is not known. */
export async function findPending(client: SlipwayClient, id: string, signal?: AbortSignal): Promise<Pending> {
  for (const status of [undefined, 'dispatched', 'failed', 'cancelled'] as const) {
    const requests = await client.call('listPending', {
      query: status ? { status } : {},
      ...(signal ? { signal } : {}),
    })
    const found = requests.find((request) => request.id === id)
    if (found) return found
  }
  throw new Refused(`there is no request ${id} in the queue`)
}

/** Why a request waits, as far as the server says. */
export function waitingReason(request: Pending): string {
  return request.waiting_reason ?? request.waiting_for?.replaceAll('_', ' ') ?? 'waits for a free instance'
}

async function watch(context: Context, id: string, options: WaitOptions, signal: AbortSignal): Promise<number> {
  const { client, screen } = context
  const read = () => client.call('getDeployment', { params: { id }, signal })
  const view = new Watch(await read(), screen, { log: options.follow === true })
  const from = options.follow ? 0 : NO_LINES
  for await (const message of client.followLogs(id, { from, signal })) view.show(message)
  screen.end()
  const ended = await read()
  await sayResult(context, ended)
  return exitCodeOfState(ended.state)
}

/** How a deployment ended, target by target. */
async function sayResult({ output }: Context, deployment: Detail): Promise<void> {
  await output.record(deployment, () => {
    const results = resultsOf(deployment)
    const rows = results.map(({ target, result, steps, duration: time }) => [harmless(target), result, steps, time])
    const success = deployment.state === 'success'
    const after = deployment.duration_ms === null ? '' : ` in ${durationText(deployment.duration_ms)}`
    return [
      '',
      ...table(['TARGET', 'RESULT', 'STEPS', 'TIME'], rows),
      ...results.flatMap(({ target, reason }) =>
        reason === null ? [] : [output.paint(harmless(`${target}: ${reason}`), 'red')],
      ),
      '',
      output.paint(`deployment ${deployment.id} ended: ${deployment.state}${after}`, success ? 'green' : 'red'),
      stepsText(deployment),
      ...(deployment.error_message === null ? [] : [harmless(deployment.error_message)]),
    ]
  })
}
