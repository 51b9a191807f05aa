import { CommandError } from '@slipway/commands'
import type { RunConnection } from '@slipway/contracts'
import type { CommandFailureReason } from '@slipway/domain'
import { endpointOf, networkReason } from '../network.ts'

export type SshAddress = Extract<RunConnection, { type: 'ssh' }>

/** A numeric `code` is the disconnect reason of the server. */
export type ConnectError = Error & { code?: string | number; level?: string }

/** The error of a connection that could not be opened. */
export function connectError(error: ConnectError, address: SshAddress): CommandError {
  return new CommandError(problemOf(error, address), reasonOf(error))
}

export const closedEarly = (endpoint: string): CommandError =>
  new CommandError(`connection closed by ${endpoint} before it was established`, 'target_connection_lost')

function problemOf(error: ConnectError, address: SshAddress): string {
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

function reasonOf({ level, code }: ConnectError): CommandFailureReason | null {
  if (level === 'client-authentication') return 'target_authentication'
  if (level === 'client-timeout') return 'target_silent'
  return networkReason(code)
}
