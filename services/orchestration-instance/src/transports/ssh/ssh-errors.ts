import type { RunConnection } from '@slipway/contracts'
import { endpointOf } from '../words.ts'

export type SshAddress = Extract<RunConnection, { type: 'ssh' }>

/** A numeric `code` is the disconnect reason of the server. */
export type ConnectError = Error & { code?: string | number; level?: string }

export function connectProblem(error: ConnectError, address: SshAddress): string {
  const endpoint = endpointOf(address)
  const [, kind] = /no matching (?:[CS]->[CS] )?(key exchange|host key|cipher|MAC)/.exec(error.message) ?? []
  if (kind === 'key exchange') return `${endpoint} offers no key exchange of SLIPWAY_SSH_KEY_EXCHANGES`
  if (kind !== undefined) return `${endpoint} offers no ${kind} that is considered safe`
  if (error.level === 'client-authentication') return `authentication failed for ${address.username}@${endpoint}`
  if (error.level === 'client-timeout' || error.code === 'ETIMEDOUT') return `no answer from ${endpoint}`
  if (error.code === 'ECONNREFUSED') return `connection refused by ${endpoint}`
  if (error.code === 'ECONNRESET') return `connection closed by ${endpoint} before it was established`
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
    return `the host name ${address.host} cannot be resolved`
  if (typeof error.code === 'string') return `${endpoint} cannot be reached (${error.code})`
  return `no connection to ${endpoint}: ${error.message.slice(0, 200)}`
}
