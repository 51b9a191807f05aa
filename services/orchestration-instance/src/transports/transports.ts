import { mkdir, rm } from 'node:fs/promises'
import { type Lifeline, type LocalLimits, LocalTransport, type LocalUser, type Transport } from '@slipway/commands'
import type { RunTarget } from '@slipway/contracts'
import { Semaphore } from '@slipway/runtime'
import { AgentTransport } from './agent/agent-transport.ts'
import { SimulatedTransport } from './simulated/simulated-transport.ts'
import { SshConnections, type SshConnectionsOptions } from './ssh/connections.ts'
import { SshTransport } from './ssh/ssh-transport.ts'

const MAX_ABANDONING = 50

interface TargetEvents {
  onHostKey(hostKey: string): void
  onSeen(): void
}

interface TransportsOptions extends SshConnectionsOptions {
  limits: LocalLimits
  asUser: { user: LocalUser; folder: string } | null
}

/** Creates the transports of runs and owns their shared resources. */
export class Transports {
  readonly #local: LocalTransport
  readonly #lifeline: Lifeline
  readonly #abandoning = new Semaphore(MAX_ABANDONING)
  readonly ssh: SshConnections

  private constructor(local: LocalTransport, ssh: SshConnections, lifeline: Lifeline) {
    this.#local = local
    this.ssh = ssh
    this.#lifeline = lifeline
  }

  /**
   * Deletes the files in `folder`, the folder for directories of local commands: an earlier process may have left some.
   * @throws LocalUserError
   */
  static async open(folder: string, lifeline: Lifeline, options: TransportsOptions): Promise<Transports> {
    const { limits, asUser, ...ssh } = options
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const local = asUser
      ? await LocalTransport.asUser(folder, { lifeline, limits, user: asUser.user, userFolder: asUser.folder })
      : new LocalTransport(folder, { lifeline, limits })
    return new Transports(local, new SshConnections(ssh), lifeline)
  }

  to({ id, name, connection }: RunTarget, events: TargetEvents): Transport {
    if (connection.type === 'local') return this.#local
    if (connection.type === 'agent') {
      const { agent: address } = connection
      return new AgentTransport({ targetName: name, address, abandoning: this.#abandoning, onSeen: events.onSeen })
    }
    if (connection.type === 'simulated') return new SimulatedTransport(id, connection)
    return new SshTransport({
      address: connection,
      connections: this.ssh,
      lifeline: this.#lifeline,
      ...events,
    })
  }

  close(): void {
    this.#local.shutDown()
    this.ssh.close()
  }
}
