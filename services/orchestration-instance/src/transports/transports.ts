import { mkdir, rm } from 'node:fs/promises'
import type { RunTarget } from '@slipway/contracts'
import { CommandError, type Lifeline, LocalTransport, type Transport } from '@slipway/execution'
import { SimulatedTransport } from './simulated/simulated-transport.ts'
import { SshTransport } from './ssh/ssh-transport.ts'
import { Turnstile } from './ssh/turnstile.ts'

/** What a transport tells of its target. */
export interface TargetNews {
  onHostKey(hostKey: string): void
  onSeen(): void
}

/** Makes the transports of this instance's runs, and holds what they share. */
export class Transports {
  readonly #local: LocalTransport
  readonly #handshakes: Turnstile
  readonly #lifeline: Lifeline

  private constructor(local: LocalTransport, handshakes: Turnstile, lifeline: Lifeline) {
    this.#local = local
    this.#handshakes = handshakes
    this.#lifeline = lifeline
  }

  /** `folder` is for the directories of local commands; what an instance that died left in it is deleted. */
  static async open(folder: string, lifeline: Lifeline, limits: { handshakes: number }): Promise<Transports> {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return new Transports(new LocalTransport(folder, lifeline), new Turnstile(limits.handshakes), lifeline)
  }

  to({ id, connection }: RunTarget, news: TargetNews): Transport {
    if (connection.type === 'local') return this.#local
    if (connection.type === 'agent') throw new CommandError('this instance does not reach agents')
    if (connection.type === 'simulated') return new SimulatedTransport(id, connection)
    return new SshTransport({
      address: connection,
      handshakes: this.#handshakes,
      lifeline: this.#lifeline,
      ...news,
    })
  }

  close(): void {
    this.#local.shutDown()
  }
}
