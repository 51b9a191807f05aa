import { compile, type ProbeRequest, ProbeResponse, type RunRef, type RunSpec, StopResponse } from '@slipway/contracts'
import { currentTraceparent, type JsonPost, postJson } from '@slipway/runtime'
import type { InstanceAddress } from '../instances/address.ts'

export type StartAnswer = 'accepted' | 'has_newer' | { refused: string }

const CALL_MS = 10_000
/** TERM, ten seconds, KILL, and a while for the target's word. */
const ENDING_MS = 20_000
/** An instance takes up to 20 s. */
const PROBE_MS = 30_000
/** A run of ten thousand targets is some megabytes. */
const HANDOVER_MS = 30_000

/** Hands a run over. Throws when that may succeed later; `refused` says that it never will. */
export async function postRun(instance: InstanceAddress, spec: RunSpec): Promise<StartAnswer> {
  const { status, body } = await send(instance, '/v1/runs', spec, { timeoutMs: HANDOVER_MS })
  const message = errorMessage((await body).toString('utf8'))
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
  const path = `/v1/runs/${deployment_id}/stop`
  const { status, body } = await send(instance, path, { epoch, reason }, { timeoutMs: CALL_MS, endingMs: ENDING_MS })
  if (status >= 300 && status !== 404 && status !== 409) throw new Error(`the instance answered ${status} to a stop`)
  return async () => {
    try {
      const answer: unknown = JSON.parse((await body).toString('utf8'))
      return checkStopped(answer).length === 0 ? (answer as StopResponse).unconfirmed : null
    } catch {
      return null
    }
  }
}

const checkStopped = compile(StopResponse)
const checkProbed = compile(ProbeResponse)

/** Has the instance look which of these targets it reaches. Throws when the answer is none to that. */
export async function postProbe(
  instance: InstanceAddress,
  request: ProbeRequest,
  signal: AbortSignal,
): Promise<ProbeResponse> {
  const { status, body } = await send(instance, '/v1/probes', request, { timeoutMs: PROBE_MS, signal })
  const text = (await body).toString('utf8')
  if (status < 200 || status >= 300) throw new Error(`the instance answered ${status} to probes`)
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

/** The secrets of a run go to the enrolled address only: no redirect is followed. */
const send = (
  { base_url, callback_token }: InstanceAddress,
  path: string,
  body: unknown,
  limits: Pick<JsonPost, 'timeoutMs' | 'endingMs' | 'signal'>,
) =>
  postJson({
    url: `${base_url}${path}`,
    to: 'the instance',
    token: callback_token,
    headers: traceHeader(),
    body: JSON.stringify(body),
    ...limits,
  })

function traceHeader(): Record<string, string> {
  const traceparent = currentTraceparent()
  return traceparent === null ? {} : { traceparent }
}

function errorMessage(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message.slice(0, 500) : ''
  } catch {
    return ''
  }
}
