import { randomUUID } from 'node:crypto'
import { type Command, Kill, type Lifeline } from '@slipway/commands'
import { type Sshd, startSshd } from '@slipway/testing'
import { SshConnections, type SshConnectionsOptions } from '../../src/transports/ssh/connections.ts'
import type { SshAddress } from '../../src/transports/ssh/ssh-errors.ts'
import { SshTransport } from '../../src/transports/ssh/ssh-transport.ts'
import { startOn } from './commands.ts'
import { eventually } from './wait.ts'

interface TransportOptions extends Partial<SshAddress> {
  over?: SshConnections
  lifeline?: Lifeline
}

/** A real ssh server with transports to it. */
export class SshHost {
  readonly sshd: Sshd
  readonly connections: SshConnections

  private constructor(sshd: Sshd, options: Partial<SshConnectionsOptions>) {
    this.sshd = sshd
    this.connections = new SshConnections({ handshakes: 2, keyExchanges: ['curve25519-sha256'], ...options })
  }

  static async start(
    settings: string[] = [],
    options: Partial<SshConnectionsOptions> = {},
    server: Omit<Parameters<typeof startSshd>[0], 'settings'> = {},
  ): Promise<SshHost> {
    return new SshHost(await startSshd({ ...server, settings }), options)
  }

  async stop(): Promise<void> {
    this.connections.close()
    await this.sshd.stop()
  }

  get endpoint(): string {
    return `127.0.0.1:${this.sshd.port}`
  }

  address(parts: Partial<SshAddress> = {}): SshAddress {
    const { port, username, privateKey } = this.sshd
    const key = parts.password === undefined ? { private_key: privateKey } : {}
    return { type: 'ssh', host: '127.0.0.1', port, username, ...key, ...parts }
  }

  /** A transport, and the host keys that it reports. */
  transport({ over = this.connections, lifeline, ...parts }: TransportOptions = {}) {
    const hostKeys: string[] = []
    const made = new SshTransport({
      address: this.address(parts),
      connections: over,
      ...(lifeline && { lifeline }),
      onHostKey: (key) => hostKeys.push(key),
      onSeen: () => {},
    })
    return { made, hostKeys }
  }
}

export const start = (on: SshTransport, script: string, options: Partial<Command> = {}) =>
  startOn(on, { script, ...options })

/** Starts a command that writes "up" and waits with a child and a grandchild. All of them carry `mark`. */
export async function startFamily(on: SshTransport, before = '') {
  const mark = randomUUID()
  const family = `export MARK=${mark}; sh -c 'sleep 600 & sleep 600' & echo up; sleep 600`
  const command = start(on, `${before}${family}`)
  await eventually('it runs', () => command.output.stdout.endsWith('up\n'))
  return { ...command, mark, cancel: (graceMs: number) => command.abort.abort(new Kill('cancelled', graceMs)) }
}
