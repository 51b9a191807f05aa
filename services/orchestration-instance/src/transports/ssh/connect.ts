import { connect as connectTcp, type Socket } from 'node:net'
import { CommandError } from '@slipway/commands'
import { fingerprint, KeyProblem } from '@slipway/domain/ssh'
import { type AnyAuthMethod, Client, type ConnectConfig } from 'ssh2'
import { endpointOf } from '../network.ts'
import { algorithmsOf, type KeyExchange } from './algorithms.ts'
import { hostKeyText, type KnownHostKey } from './host-key.ts'
import type { PrivateKeys } from './private-keys.ts'
import { type ConnectError, closedEarly, connectError, type SshAddress } from './ssh-errors.ts'

const READY_MS = 20_000
const KEEPALIVE_MS = 5_000
/** The connection counts as lost after this many unanswered keepalives. */
const KEEPALIVE_COUNT = 3

export interface ConnectOptions {
  keyExchanges: readonly KeyExchange[]
  privateKeys: PrivateKeys
  /** The timeout of connection and login. */
  readyMs?: number
  keepAliveMs?: number
  /** Whether to end after the key exchange. The host shows its key, and no credential is needed. */
  keyExchangeOnly?: boolean
}

export interface Connected {
  client: Client
  /** The key of the host in OpenSSH form. */
  hostKey: string
}

/** Opens a connection. Throws CommandError, or the signal's reason after an abort. */
export async function connect(
  address: SshAddress,
  known: KnownHostKey | null,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Connected> {
  const attempts = known?.algorithms ?? [null]
  let seen: Buffer | null = null
  for (const algorithms of attempts) {
    const attempt = await tryToConnect(address, known, algorithms, options, signal)
    if ('client' in attempt) return attempt
    seen = attempt.wrongKey ?? seen
  }
  const endpoint = endpointOf(address)
  throw new CommandError(
    seen
      ? `host key of ${endpoint} changed: expected ${known?.fingerprint}, got ${fingerprint(seen)}`
      : `host key of ${endpoint} changed: it has no key of the type of ${known?.fingerprint}`,
    'target_host_key',
  )
}

/** `wrongKey` is null if the host has no key of the wanted type. */
type Attempt = Connected | { wrongKey: Buffer | null }

function tryToConnect(
  address: SshAddress,
  known: KnownHostKey | null,
  hostKeyAlgorithms: readonly string[] | null,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Attempt> {
  const client = new Client()
  const endpoint = endpointOf(address)
  let hostKey: Buffer | null = null
  const verify = (key: Buffer) => {
    hostKey = key
    return known?.matches(key) ?? true
  }
  let onAbort = () => {}
  const attempt = new Promise<Attempt>((resolve, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) return onAbort()
    // By the version text, the library would make OpenSSH hosts sign with each of their keys after the login. Slipway does
    // not use these signatures.
    client.once('handshake', () => Object.assign(client, { _remoteVer: '' }))
    if (options.keyExchangeOnly) {
      client.once('handshake', () => resolve({ client, hostKey: hostKeyText(hostKey as Buffer) }))
    }
    client.once('ready', () => resolve({ client, hostKey: hostKeyText(hostKey as Buffer) }))
    client.once('error', (error: ConnectError) => {
      if (known && hostKey && !known.matches(hostKey)) return resolve({ wrongKey: hostKey })
      if (known && !hostKey && error.message.includes('no matching host key')) return resolve({ wrongKey: null })
      reject(connectError(error, address))
    })
    client.once('close', () => reject(closedEarly(endpoint)))
    let sock: Socket | undefined
    try {
      const config = configOf(address, hostKeyAlgorithms, options, verify)
      sock = openSocket(address.host, address.port)
      client.connect({ ...config, sock })
    } catch (error) {
      sock?.destroy()
      // The message of the library may quote settings.
      const what = error instanceof KeyProblem ? `the private key ${error.message}` : 'the settings are not valid'
      reject(new CommandError(`no connection to ${endpoint} as ${address.username}: ${what}`))
    }
  })
  return attempt
    .finally(() => signal.removeEventListener('abort', onAbort))
    .then(
      (result) => {
        client.removeAllListeners()
        if (!('client' in result)) discard(client)
        return result
      },
      (error) => {
        discard(client)
        throw error
      },
    )
}

/** Closes the client. Its later errors must not become uncaught errors. */
function discard(client: Client): void {
  client.removeAllListeners().on('error', () => {})
  client.destroy()
}

function configOf(
  address: SshAddress,
  hostKeyAlgorithms: readonly string[] | null,
  { keyExchanges, privateKeys, readyMs = READY_MS, keepAliveMs = KEEPALIVE_MS }: ConnectOptions,
  hostVerifier: (key: Buffer) => boolean,
): ConnectConfig {
  return {
    username: address.username,
    authHandler: authMethods(address, privateKeys),
    algorithms: algorithmsOf(keyExchanges, hostKeyAlgorithms),
    hostVerifier,
    readyTimeout: readyMs,
    keepaliveInterval: keepAliveMs,
    keepaliveCountMax: KEEPALIVE_COUNT,
  }
}

/** The method `none` comes last: few hosts accept it, and each method costs a round trip. */
function authMethods({ username, password, private_key }: SshAddress, keys: PrivateKeys): AnyAuthMethod[] {
  const methods: AnyAuthMethod[] = []
  if (password !== undefined) methods.push({ type: 'password', username, password })
  if (private_key !== undefined) methods.push({ type: 'agent', username, agent: keys.get(private_key) })
  if (password !== undefined) {
    methods.push({
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, prompts, finish) => finish(prompts.map(() => password)),
    })
  }
  return [...methods, { type: 'none', username }]
}

/**
 * Opens a socket that sends all writes of one turn of the event loop together. The library writes each packet in three pieces.
 * Each piece would cost a system call here and a wake-up on the host (goal: a command on 200 SSH hosts).
 */
function openSocket(host: string, port: number): Socket {
  const socket = connectTcp({ host, port, noDelay: true })
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  // A subclass does not work: a socket that connects restores its own `write`.
  socket.write = (...args: unknown[]) => {
    if (socket.writableCorked === 0) {
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    return write(...args)
  }
  return socket
}
