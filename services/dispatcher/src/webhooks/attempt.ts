import { createHmac } from 'node:crypto'
import {
  DestinationRefused,
  type DestinationRules,
  type KeyRing,
  postOutbound,
  SLIPWAY_VERSION,
} from '@slipway/runtime'
import type { Claimed } from './claim.ts'

const TIMEOUT_MS = 15_000
const MAX_ANSWER_BYTES = 64 * 1024
const EXCERPT_CHARACTERS = 1_024
const GONE = 410

export interface Outcome {
  /** `gone`: the receiver answered 410. */
  result: 'delivered' | 'failed' | 'gone'
  timed_out: boolean
  response_status: number | null
  response_body: string | null
  error: string | null
  /** The delay in seconds that the receiver asks for. */
  retry_after: number | null
}

interface AttemptOptions {
  keys: KeyRing
  destinations: DestinationRules
  timeoutMs?: number
}

/** Makes one attempt: signed as Standard Webhooks require, over a connection to an address that was just checked. */
export async function attempt(
  { id, url, payload, secret_sealed, webhook_id }: Claimed,
  { keys, destinations, timeoutMs = TIMEOUT_MS }: AttemptOptions,
): Promise<Outcome> {
  try {
    const secret = keys.openText(secret_sealed, `webhook:${webhook_id}:secret`)
    const timestamp = Math.floor(Date.now() / 1_000)
    const answer = await postOutbound(
      {
        url: new URL(url),
        headers: {
          'content-type': 'application/json',
          'user-agent': `Slipway/${SLIPWAY_VERSION}`,
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signature(secret, `${id}.${timestamp}.${payload}`),
        },
        body: payload,
        timeoutMs,
        maxAnswerBytes: MAX_ANSWER_BYTES,
      },
      destinations,
    )
    const { status, body, headers } = answer
    return {
      result: status >= 200 && status < 300 ? 'delivered' : status === GONE ? 'gone' : 'failed',
      timed_out: false,
      response_status: status,
      response_body: excerpt(body),
      error: complaintOf(status),
      retry_after: secondsOf(headers['retry-after']),
    }
  } catch (error) {
    return {
      result: 'failed',
      timed_out: (error as { code?: unknown }).code === 'ETIMEDOUT',
      response_status: null,
      response_body: null,
      error: wordsFor(error),
      retry_after: null,
    }
  }
}

function signature(secret: string, signed: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

function complaintOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `The receiver answered ${status}: redirects are not followed`
  return `The receiver answered ${status}`
}

/** The answer may contain any bytes, and Postgres refuses NUL. */
const excerpt = (body: Buffer) => body.toString('utf8').replaceAll('\0', '\ufffd').slice(0, EXCERPT_CHARACTERS)

const secondsOf = (header: string | undefined) => (/^\d{1,6}$/.test(header ?? '') ? Number(header) : null)

function wordsFor(error: unknown): string {
  if (error instanceof DestinationRefused) return `The URL ${error.message}`
  const { message, code } = error as { message?: string; code?: string }
  return (message || code || String(error)).slice(0, EXCERPT_CHARACTERS)
}
