import { WEBHOOK_EVENTS, type WebhookEvent } from '@slipway/contracts'
import { insufficientPermissions, validationProblem } from '@slipway/domain'
import { checkedAddresses, DestinationRefused, type DestinationRules, urlProblem } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'
import type { Check } from '../http/handler.ts'

/** What is wrong with the form of the URL; where it leads is looked at when everything else is right. */
export const checkUrl: Check = ({ url }) => {
  const message = typeof url === 'string' ? urlProblem(url) : null
  return message === null ? [] : [{ path: '/url', message }]
}

/**
 * A webhook tells its receiver what the API would tell the caller, and no more.
 * @throws Problem INSUFFICIENT_PERMISSIONS
 */
export function requireReadable(caller: CallingUser, events: unknown): void {
  for (const event of Array.isArray(events) ? events : []) {
    const permission = Object.hasOwn(WEBHOOK_EVENTS, event) ? WEBHOOK_EVENTS[event as WebhookEvent] : undefined
    if (permission !== undefined && !caller.permissions.includes(permission)) {
      throw insufficientPermissions(`${permission}, to be told of ${event}`)
    }
  }
}

/** @throws Problem VALIDATION_ERROR where the URL leads to a place that must not be called */
export async function requireCallable(url: string, rules: DestinationRules): Promise<void> {
  try {
    await checkedAddresses(new URL(url), rules)
  } catch (error) {
    if (!(error instanceof DestinationRefused)) throw error
    throw validationProblem([{ path: '/url', message: error.message }])
  }
}
