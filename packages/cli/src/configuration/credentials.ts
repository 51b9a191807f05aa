import type { ServiceAccount, SessionStore } from '@slipway/client'
import type { Io } from '../io.ts'
import { checkCredential } from './credential-form.ts'
import { createSessionStore } from './file.ts'
import { createIdTokenSource } from './id-token.ts'
import type { Server } from './server.ts'

/** How a command authenticates; a part of the options of the client. */
export type Credential = { token: string } | { serviceAccount: ServiceAccount } | { sessions: SessionStore }

function readToken({ env }: Io): string | undefined {
  const name = (['SLIPWAY_TOKEN', 'SLIPWAY_API_KEY'] as const).find((one) => env[one])
  const value = name === undefined ? undefined : env[name]
  return name && value ? checkCredential(name, value) : undefined
}

const readAccountName = ({ env }: Io) => env['SLIPWAY_SERVICE_ACCOUNT']

/** Returns the variable that names the credential, or undefined if a session is used. */
export function findCredentialVariable(io: Io): string | undefined {
  const names = ['SLIPWAY_TOKEN', 'SLIPWAY_API_KEY', 'SLIPWAY_SERVICE_ACCOUNT']
  return names.find((name) => io.env[name])
}

/**
 * Chooses the credential: SLIPWAY_TOKEN or SLIPWAY_API_KEY, SLIPWAY_SERVICE_ACCOUNT, the session of `slipway login`. Returns
 * undefined without any. Calls no server: a service account exchanges its token at the first call.
 * @throws UsageError if the service account has no ID token, or a variable holds no such credential
 */
export function chooseCredential(io: Io, { url, context }: Server, fetchToken: typeof fetch): Credential | undefined {
  const token = readToken(io)
  if (token) return { token }
  const name = readAccountName(io)
  if (name) return { serviceAccount: { name, getIdToken: createIdTokenSource(io, url, name, fetchToken) } }
  const sessions = createSessionStore(io, url, context)
  return sessions.load() ? { sessions } : undefined
}
