import { Semaphore } from '@slipway/runtime'
import type { KeyExchange } from './algorithms.ts'
import { type Connected, type ConnectOptions, connect } from './connect.ts'
import type { KnownHostKey } from './host-key.ts'
import { PrivateKeys } from './private-keys.ts'
import type { SshAddress } from './ssh-errors.ts'

/** How many probes run at a time. A probe mostly waits for the network. */
const MAX_PROBES = 50
const PROBE_MS = 5_000

export interface SshConnectionsOptions {
  /** The limit of concurrent handshakes. A handshake costs far more CPU time than a command. */
  handshakes: number
  keyExchanges: readonly KeyExchange[]
  keepAliveMs?: number
}

type Endpoint = Pick<SshAddress, 'host' | 'port'>
type Login = Pick<SshAddress, 'username' | 'private_key' | 'password'>
/** A key exchange sends no user name, but the library requires one. */
const NO_LOGIN: Login = { username: 'slipway' }

export interface Connection extends Connected {
  readonly address: SshAddress
  isOpen: boolean
}

/** Opens the connections of all runs, and keeps a list of the open ones. */
export class SshConnections {
  readonly #options: ConnectOptions
  readonly #handshakes: Semaphore
  /** Probes have their own limit, so commands never wait for probes. */
  readonly #probes = new Semaphore(MAX_PROBES)
  readonly #open = new Set<Connection>()

  constructor({ handshakes, ...options }: SshConnectionsOptions) {
    this.#options = { ...options, privateKeys: new PrivateKeys() }
    this.#handshakes = new Semaphore(handshakes)
  }

  /** With `ahead`, connections for waiting commands come first. Throws CommandError, or the signal's reason. */
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

  /** Closes a connection. The commands on it end. */
  end(connection: Connection): void {
    this.#forget(connection)
    connection.client.destroy()
  }

  /**
   * Returns the key of a host that answers. With a login, also checks the login. An open connection of a run proves both,
   * because its keep-alive closes it otherwise. Throws like connect.
   */
  async probe(
    endpoint: Endpoint,
    login: Login | null,
    known: KnownHostKey | null,
    signal: AbortSignal,
  ): Promise<string> {
    for (const { address: other, hostKey } of this.#open) {
      const isSame = isSameEndpoint(endpoint, other) && (login === null || isSameLogin(login, other))
      if (isSame && (known === null || known.isOf(hostKey))) return hostKey
    }
    const address: SshAddress = { type: 'ssh', ...endpoint, ...(login ?? NO_LOGIN) }
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

const isSameEndpoint = (one: Endpoint, other: Endpoint) => one.host === other.host && one.port === other.port

/** A changed secret needs a new login at the host. */
function isSameLogin(one: Login, other: Login): boolean {
  const parts = ['username', 'private_key', 'password'] as const
  return parts.every((part) => one[part] === other[part])
}
