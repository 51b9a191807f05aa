import type { RunRef, RunSpec } from '@slipway/contracts'

/** Where an instance is, and the secret by which it knows the bridge. */
export interface InstanceAddress {
  base_url: string
  callback_token: string
}

export type StartAnswer = 'accepted' | 'has_newer' | { refused: string }

const CALL_MS = 10_000
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

/** Stops a run; one that the instance does not have is stopped already. */
export async function postStop(instance: InstanceAddress, run: RunRef, reason: string): Promise<void> {
  const { epoch, deployment_id } = run
  const { status } = await post(instance, `/v1/runs/${deployment_id}/stop`, { epoch, reason }, CALL_MS)
  if (status >= 300 && status !== 404 && status !== 409) throw new Error(`the instance answered ${status} to a stop`)
}

async function post(
  { base_url, callback_token }: InstanceAddress,
  path: string,
  body: unknown,
  timeoutMs: number,
): Promise<{ status: number; message: string }> {
  const response = await fetch(`${base_url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${callback_token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    // The secrets of a run go to the enrolled address only.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  })
  const text = await response.text()
  return { status: response.status, message: errorMessage(text) }
}

function errorMessage(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message.slice(0, 500) : ''
  } catch {
    return ''
  }
}
