import type { ConnectionInput, Static } from '@slipway/contracts'
import type { Prisma } from '@slipway/database'
import type { ShownConnection } from '@slipway/database/read-models'
import { type FieldError, validationProblem } from '@slipway/domain'
import { KeyProblem, readHostKey, readPrivateKey } from '@slipway/domain/ssh'
import { isObject } from '@slipway/http'
import type { KeyRing } from '@slipway/runtime'

type Input = Static<typeof ConnectionInput>

const SSH_PORT = 22
const MAX_KEY_CHARACTERS = 65_536

const identity = (targetId: string) => `target:${targetId}:connection`

/** What is wrong with the keys of a connection. Otherwise its first deployment would fail. */
export function keyProblems(connection: unknown): FieldError[] {
  if (!isObject(connection) || connection['type'] !== 'ssh') return []
  return [
    ...problemsOf('/connection/private_key', connection['private_key'], readPrivateKey),
    ...problemsOf('/connection/host_key', connection['host_key'], readHostKey),
  ]
}

/** Text that breaks the schema has its own problem, and may be too long to read here. */
function problemsOf(path: string, text: unknown, read: (text: string) => unknown): FieldError[] {
  if (typeof text !== 'string' || text.length > MAX_KEY_CHARACTERS) return []
  try {
    read(text)
    return []
  } catch (error) {
    if (error instanceof KeyProblem) return [{ path, message: error.message }]
    throw error
  }
}

/** The columns of a connection. The secrets are sealed in a column of their own. */
export function storedConnection(
  keys: KeyRing,
  targetId: string,
  input: Input,
): { connection: Prisma.InputJsonObject; connection_secrets: string | null } {
  if (input.type !== 'ssh') return { connection: input, connection_secrets: null }
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

type Stored = Pick<ReturnType<typeof storedConnection>, 'connection_secrets'> & { connection: unknown }

/**
 * The columns of a connection that replaces another one. It keeps the old secrets if it names no new ones.
 * @throws Problem VALIDATION_ERROR if old secrets would go to another host or user
 */
export function replacedConnection(keys: KeyRing, targetId: string, input: Input, old: Stored) {
  const replaced = storedConnection(keys, targetId, input)
  if (input.type !== 'ssh' || replaced.connection_secrets !== null || old.connection_secrets === null) return replaced
  if (!leadsToSame(old.connection, replaced.connection)) {
    const message = 'leads to another host or user: send private_key or password again'
    throw validationProblem([{ path: '/connection', message }])
  }
  return { ...replaced, connection_secrets: old.connection_secrets }
}

const leadsToSame = (a: unknown, b: unknown) => isSameHost(a, b) && username(a) === username(b)
const username = (connection: unknown) => (connection as Partial<Extract<ShownConnection, { type: 'ssh' }>>).username

/** Whether two stored connections reach the same host. */
export function isSameHost(a: unknown, b: unknown): boolean {
  const [one, other] = [a as ShownConnection, b as ShownConnection]
  if (one.type !== 'ssh' || other.type !== 'ssh') return one.type === other.type
  return one.host === other.host && one.port === other.port
}
