import { Turnstile } from '@slipway/runtime'
import type { KeyExchange } from './algorithms.ts'
import { type Connected, type ConnectOptions, connect } from './connect.ts'
import type { KnownHostKey } from './host-key.ts'
import { PrivateKeys } from './private-keys.ts'
import type { SshAddress } from './ssh-errors.ts'

/** How many probes are under way at a time, and how long a host may take. Most of a probe is waiting. */
const PROBES = 50
const PROBE_MS = 5_000

export interface SshConnectionsOptions {
  /** How many connections are being made at a time: a handshake costs far more than a command. */
  handshakes: number
  keyExchanges: readonly KeyExchange[]
  keepAliveMs?: number
}

export interface Connection extends Connected {
  readonly address: SshAddress
  /** False once the link is gone. */
  isOpen: boolean
}

/** Makes the connections of all runs, and knows those that are open. */
export class SshConnections {
  readonly #options: ConnectOptions
  readonly #handshakes: Turnstile
  /** Probes wait for each other, never commands for probes. */
  readonly #probes = new Turnstile(PROBES)
  readonly #open = new Set<Connection>()

  constructor({ handshakes, ...options }: SshConnectionsOptions) {
    this.#options = { ...options, privateKeys: new PrivateKeys() }
    this.#handshakes = new Turnstile(handshakes)
  }

  /** `ahead`: no command waits for it yet. Throws CommandError, or the signal's reason. */
  async connect(
    address: SshAddress,
    known: KnownHostKey | null,
    signal: AbortSignal,
    { ahead = false } = {},
  ): Promise<Connection> {
    const task = () => connect(address, known, this.#options, signal)
    const connected = await this.#handshakes.pass(task, { canWait: ahead })
    const connection: Connection = { ...connected, address, isOpen: true }
    this.#open.add(connection)
    connection.client.on('error', () => {})
    connection.client.once('close', () => this.#forget(connection))
    return connection
  }

  /** Closes it, with whatever runs over it. */
  end(connection: Connection): void {
    this.#forget(connection)
    connection.client.destroy()
  }

  /**
   * The key of a host that lets us in. That a run has a connection to it says so, too: otherwise its keep-alive would have
   * ended it. Throws like connect.
   */
  async probe(address: SshAddress, known: KnownHostKey | null, signal: AbortSignal): Promise<string> {
    for (const { address: other, hostKey } of this.#open) {
      if (isSame(address, other) && (known === null || known.isOf(hostKey))) return hostKey
    }
    return this.#probes.pass(async () => {
      signal.throwIfAborted()
      const { client, hostKey } = await connect(address, known, { ...this.#options, readyMs: PROBE_MS }, signal)
      client.on('error', () => {}).end()
      return hostKey
    })
  }

  close(): void {
    for (const connection of this.#open) this.end(connection)
  }

  #forget(connection: Connection): void {
    connection.isOpen = false
    this.#open.delete(connection)
  }
}

/** Whoever comes with another secret has to show that it lets them in. */
function isSame(one: SshAddress, other: SshAddress): boolean {
  const parts = ['host', 'port', 'username', 'private_key', 'password'] as const
  return parts.every((part) => one[part] === other[part])
}
