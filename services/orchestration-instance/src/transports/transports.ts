import { mkdir, rm } from 'node:fs/promises'
import type { RunTarget } from '@slipway/contracts'
import { type Lifeline, type LocalLimits, LocalTransport, type LocalUser, type Transport } from '@slipway/execution'
import { Turnstile } from '@slipway/runtime'
import { AgentTransport } from './agent/agent-transport.ts'
import { SimulatedTransport } from './simulated/simulated-transport.ts'
import { SshConnections, type SshConnectionsOptions } from './ssh/connections.ts'
import { SshTransport } from './ssh/ssh-transport.ts'

const ABANDONING = 50

/** The events of a transport about its target. */
export interface TargetNews {
  onHostKey(hostKey: string): void
  onSeen(): void
}

export interface TransportsOptions extends SshConnectionsOptions {
  limits: LocalLimits
  asUser: { user: LocalUser; folder: string } | null
}

/** Creates the transports of runs, and holds their shared resources. */
export class Transports {
  readonly #local: LocalTransport
  readonly #lifeline: Lifeline
  readonly #abandoning = new Turnstile(ABANDONING)
  readonly ssh: SshConnections

  private constructor(local: LocalTransport, ssh: SshConnections, lifeline: Lifeline) {
    this.#local = local
    this.ssh = ssh
    this.#lifeline = lifeline
  }

  /**
   * `folder` is for the directories of local commands; what an instance that died left in it is deleted. With `asUser`
   * local commands run as that user.
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

  to({ id, name, connection }: RunTarget, news: TargetNews): Transport {
    if (connection.type === 'local') return this.#local
    if (connection.type === 'agent') {
      const { agent: address } = connection
      return new AgentTransport({ targetName: name, address, abandoning: this.#abandoning, onSeen: news.onSeen })
    }
    if (connection.type === 'simulated') return new SimulatedTransport(id, connection)
    return new SshTransport({
      address: connection,
      connections: this.ssh,
      lifeline: this.#lifeline,
      ...news,
    })
  }

  close(): void {
    this.#local.shutDown()
    this.ssh.close()
  }
}
