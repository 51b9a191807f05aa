import { WEBHOOK_EVENTS, type WebhookEvent } from '@slipway/contracts'
import { insufficientPermissions, may, validationProblem } from '@slipway/domain'
import { checkedAddresses, DestinationRefused, type DestinationRules, urlProblem } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Check } from '../handler.ts'

/** Checks the form of the URL. `requireCallable` checks its addresses later, because that needs DNS. */
export const checkUrl: Check = ({ url }) => {
  const message = typeof url === 'string' ? urlProblem(url) : null
  return message === null ? [] : [{ path: '/url', message }]
}

/**
 * A webhook must not send what its caller may not read.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireReadable(caller: CallingUser, events: unknown): void {
  for (const event of Array.isArray(events) ? events : []) {
    const permission = Object.hasOwn(WEBHOOK_EVENTS, event) ? WEBHOOK_EVENTS[event as WebhookEvent] : undefined
    if (permission !== undefined && !may(caller, permission).allowed) {
      throw insufficientPermissions(`${permission}, for the event ${event}`)
    }
  }
}

/** @throws Problem VALIDATION_ERROR if the URL leads to an address that must not be called */
export async function requireCallable(url: string, rules: DestinationRules): Promise<void> {
  try {
    await checkedAddresses(new URL(url), rules)
  } catch (error) {
    if (!(error instanceof DestinationRefused)) throw error
    throw validationProblem([{ path: '/url', message: error.message }])
  }
}
