import type { ConnectionInput, Static } from '@slipway/contracts'
import type { Prisma } from '@slipway/database'
import type { KeyRing } from '@slipway/runtime'

type Input = Static<typeof ConnectionInput>
/** What of a connection may be read again. */
type Visible = { type: 'local' } | { type: 'ssh'; host: string; port: number; username: string; host_key?: string }

const SSH_PORT = 22

const identity = (targetId: string) => `target:${targetId}:connection`

/** The columns in which a target keeps how it is reached: what may be shown, and its secrets sealed. */
export function storedConnection(
  keys: KeyRing,
  targetId: string,
  input: Input,
): { connection: Prisma.InputJsonObject; connection_secrets: string | null } {
  if (input.type === 'local') return { connection: { type: 'local' }, connection_secrets: null }
  const { private_key, password, port = SSH_PORT, ...rest } = input
  const secrets = {
    ...(private_key === undefined ? {} : { private_key }),
    ...(password === undefined ? {} : { password }),
  }
  const hasSecrets = Object.keys(secrets).length > 0
  return {
    connection: { ...rest, port },
    connection_secrets: hasSecrets ? keys.seal(JSON.stringify(secrets), identity(targetId)) : null,
  }
}

/** A connection as an answer shows it; a host key that was pinned on first use counts like one that was given. */
export function shownConnection(stored: unknown, pinnedHostKey: string | null): Visible {
  const connection = stored as Visible
  if (connection.type === 'local') return connection
  const host_key = connection.host_key ?? pinnedHostKey
  return { ...connection, ...(host_key === null ? {} : { host_key }) }
}
