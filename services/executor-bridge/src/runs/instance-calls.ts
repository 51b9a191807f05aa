import { compile, type ProbeRequest, ProbeResponse, type RunRef, type RunSpec, StopResponse } from '@slipway/contracts'
import { currentTraceparent } from '@slipway/runtime'
import type { InstanceAddress } from '../instances/address.ts'

export type StartAnswer = 'accepted' | 'has_newer' | { refused: string }

const CALL_MS = 10_000
/** TERM, ten seconds, KILL, and a while for the target's word. */
const ENDING_MS = 20_000
/** An instance takes up to 20 s. */
const PROBE_MS = 30_000
/** No answer is longer; an instance that sends more is not read to its end. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** A run of ten thousand targets is some megabytes. */
const HANDOVER_MS = 30_000

/** Hands a run over. Throws when that may succeed later; `refused` says that it never will. */
export async function postRun(instance: InstanceAddress, spec: RunSpec): Promise<StartAnswer> {
  const { status, message } = await post(instance, '/v1/runs', spec, HANDOVER_MS)
  if (status === 202 || status === 200) return 'accepted'
  if (status === 409) return 'has_newer'
  if (status === 400 || status === 413 || status === 422) return { refused: message || `status ${status}` }
  throw new Error(`the instance answered ${status} to a run`)
}

export type Unconfirmed = [target: number, action: number][]

/**
 * Stops a run; one that the instance does not have is stopped already. Once that is accepted it gives what it came to,
 * which takes as long as commands take to end: the steps whose commands may still run, null where that is not known.
 */
export async function postStop(
  instance: InstanceAddress,
  run: RunRef,
  reason: string,
): Promise<() => Promise<Unconfirmed | null>> {
  const { epoch, deployment_id } = run
  const late = new AbortController()
  const within = (ms: number) => setTimeout(() => late.abort(new Error(`no answer within ${ms} ms`)), ms).unref()
  let timer = within(CALL_MS)
  const response = await send(instance, `/v1/runs/${deployment_id}/stop`, { epoch, reason }, late.signal).finally(() =>
    clearTimeout(timer),
  )
  const { status } = response
  if (status >= 300 && status !== 404 && status !== 409) throw new Error(`the instance answered ${status} to a stop`)
  timer = within(ENDING_MS)
  return async () => {
    try {
      const answer: unknown = JSON.parse(await textOf(response))
      return checkStopped(answer).length === 0 ? (answer as StopResponse).unconfirmed : null
    } catch {
      return null
    } finally {
      clearTimeout(timer)
    }
  }
}

const checkStopped = compile(StopResponse)
const checkProbed = compile(ProbeResponse)

/** Has the instance look which of these targets it reaches. Throws when the answer is none to that. */
export async function postProbe(
  instance: InstanceAddress,
  request: ProbeRequest,
  stop: AbortSignal,
): Promise<ProbeResponse> {
  const signal = AbortSignal.any([AbortSignal.timeout(PROBE_MS), stop])
  const response = await send(instance, '/v1/probes', request, signal)
  const text = await textOf(response)
  if (!response.ok) throw new Error(`the instance answered ${response.status} to probes`)
  const answer: unknown = JSON.parse(text)
  const [problem] = checkProbed(answer)
  if (problem) throw new Error(`the instance's answer to probes is wrong: ${problem.path} ${problem.message}`)
  const { results } = answer as ProbeResponse
  const asked = new Set(request.targets.map(({ id }) => id))
  // Each target once, and none that nobody asked for.
  if (!results.every(({ id }) => asked.delete(id)))
    throw new Error('the instance answered for targets it was not asked for')
  return answer as ProbeResponse
}

async function post(
  instance: InstanceAddress,
  path: string,
  body: unknown,
  timeoutMs: number,
): Promise<{ status: number; message: string }> {
  const response = await send(instance, path, body, AbortSignal.timeout(timeoutMs))
  const text = await textOf(response)
  return { status: response.status, message: errorMessage(text) }
}

const send = ({ base_url, callback_token }: InstanceAddress, path: string, body: unknown, signal: AbortSignal) =>
  fetch(`${base_url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${callback_token}`, 'content-type': 'application/json', ...traceHeader() },
    body: JSON.stringify(body),
    // The secrets of a run go to the enrolled address only.
    redirect: 'error',
    signal,
  })

function traceHeader(): { traceparent?: string } {
  const traceparent = currentTraceparent()
  return traceparent === null ? {} : { traceparent }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`the instance's answer is longer than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function errorMessage(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message.slice(0, 500) : ''
  } catch {
    return ''
  }
}
