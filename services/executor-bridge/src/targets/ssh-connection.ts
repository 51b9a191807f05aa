import type { RunConnection } from '@slipway/contracts'
import type { KeyRing } from '@slipway/runtime'
import type { StoredConnection } from './records.sql.ts'

const SSH_PORT = 22

interface Stored {
  id: string
  connection: Extract<StoredConnection, { type: 'ssh' }>
  connection_secrets: string | null
  pinned_host_key: string | null
}

/** The connection of an ssh target with secrets in clear. @throws SecretError */
export function sshConnection(keys: KeyRing, target: Stored): Extract<RunConnection, { type: 'ssh' }> {
  const { connection } = target
  const { private_key, password } = openConnectionSecrets(keys, target.id, target.connection_secrets)
  const hostKey = connection.host_key ?? target.pinned_host_key
  return {
    type: 'ssh',
    host: connection.host,
    port: connection.port ?? SSH_PORT,
    username: connection.username,
    ...(private_key === undefined ? {} : { private_key }),
    ...(password === undefined ? {} : { password }),
    ...(hostKey === null ? {} : { host_key: hostKey }),
  }
}

interface ConnectionSecrets {
  private_key?: string
  password?: string
}

function openConnectionSecrets(keys: KeyRing, targetId: string, sealed: string | null): ConnectionSecrets {
  if (sealed === null) return {}
  return JSON.parse(keys.openText(sealed, `target:${targetId}:connection`)) as ConnectionSecrets
}
