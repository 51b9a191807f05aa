import { Semaphore } from '@slipway/runtime'
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

type Place = Pick<SshAddress, 'host' | 'port'>
type Login = Pick<SshAddress, 'username' | 'private_key' | 'password'>
/** A key exchange sends no user name, but the library wants one. */
const NO_LOGIN: Login = { username: 'slipway' }

export interface Connection extends Connected {
  readonly address: SshAddress
  /** False once the link is gone. */
  isOpen: boolean
}

/** Makes the connections of all runs, and knows those that are open. */
export class SshConnections {
  readonly #options: ConnectOptions
  readonly #handshakes: Semaphore
  /** Probes wait for each other, never commands for probes. */
  readonly #probes = new Semaphore(PROBES)
  readonly #open = new Set<Connection>()

  constructor({ handshakes, ...options }: SshConnectionsOptions) {
    this.#options = { ...options, privateKeys: new PrivateKeys() }
    this.#handshakes = new Semaphore(handshakes)
  }

  /** `ahead`: no command waits for it yet. Throws CommandError, or the signal's reason. */
  async connect(
    address: SshAddress,
    known: KnownHostKey | null,
    signal: AbortSignal,
    { ahead = false } = {},
  ): Promise<Connection> {
    const task = () => connect(address, known, this.#options, signal)
    const connected = await this.#handshakes.run(task, { lowPriority: ahead })
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
   * The key of a host that answers, and that lets this instance in where a login is given. A run's open connection proves
   * both: its keep-alive would have ended it otherwise. Throws like connect.
   */
  async probe(place: Place, login: Login | null, known: KnownHostKey | null, signal: AbortSignal): Promise<string> {
    for (const { address: other, hostKey } of this.#open) {
      const isSame = isSamePlace(place, other) && (login === null || isSameLogin(login, other))
      if (isSame && (known === null || known.isOf(hostKey))) return hostKey
    }
    const address: SshAddress = { type: 'ssh', ...place, ...(login ?? NO_LOGIN) }
    const options = { ...this.#options, readyMs: PROBE_MS, keyExchangeOnly: login === null }
    return this.#probes.run(async () => {
      signal.throwIfAborted()
      const { client, hostKey } = await connect(address, known, options, signal)
      client.on('error', () => {}).destroy()
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

const isSamePlace = (one: Place, other: Place) => one.host === other.host && one.port === other.port

/** With another secret the host has to show again that it lets this instance in. */
function isSameLogin(one: Login, other: Login): boolean {
  const parts = ['username', 'private_key', 'password'] as const
  return parts.every((part) => one[part] === other[part])
}
