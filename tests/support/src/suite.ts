import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { BrokerUser } from '@slipway/broker'
import { makeCertificates, type TestCertificates } from './certificates.ts'
import { connectTo, createTestDatabase, type TestDatabase } from './database.ts'
import { addJoinToken, type JoinTokenOptions } from './join-token.ts'
import { type Metrics, readMetrics } from './metrics.ts'
import { removeNamespace, testNamespace } from './namespace.ts'
import type { Network } from './networks.ts'
import { freePort } from './ports.ts'
import { repositoryRoot } from './repository.ts'
import { brokerUrlOf, redisUrlOf } from './servers.ts'
import { waitFor } from './waiting.ts'

export const SERVICES = [
  'gateway',
  'planner',
  'dispatcher',
  'executor-bridge',
  'log-stream',
  'orchestration-instance',
] as const

export type ServiceName = `${(typeof SERVICES)[number]}${'' | '-2' | '-3'}`

export interface SuiteOptions {
  /** The capacity of each instance. */
  capacity?: number
  /** Whether a second orchestration instance runs. */
  secondInstance?: boolean
  /** Whether a third orchestration instance runs. It uses the first bridge. */
  thirdInstance?: boolean
  /** Whether a second gateway runs, at `secondUrl`. */
  secondGateway?: boolean
  /** Whether a second log-stream runs, at `logStreams[1]`. The gateway uses the first one. */
  secondLogStream?: boolean
  /** Whether a second planner, dispatcher and executor-bridge run. The second instance uses the second bridge. */
  secondReplicas?: boolean
  /** Whether the executor-bridges serve HTTPS, with certificates of a private CA. */
  tls?: boolean
  /** Up to three networks. One instance runs in each, instead of the usual ones. Their bridges serve HTTPS. */
  networks?: Network[]
  /** A folder of this repository with other bundles of the services, such as those of `node scripts/bundle.mjs --failpoints`. */
  bundles?: string
  /** The database; by default, a new one. The suite drops it at its end. */
  database?: TestDatabase
  /** Further settings of all services. */
  env?: Record<string, string>
  /** Further settings of one process. Gets the settings of all processes, for example to put a proxy before each address. */
  settingsOf?: (name: ServiceName, all: ReadonlyMap<ServiceName, Settings>) => Promise<Settings>
}

export type Settings = Readonly<Record<string, string>>

export interface Suite {
  url: string
  secondUrl: string
  /** The URLs of the log-streams, for tests of an ingress that calls them directly. */
  logStreams: string[]
  /** The URL of the executor-bridge. */
  bridgeUrl: string
  /** The URL of the second executor-bridge, or of the only one. */
  secondBridgeUrl: string
  /** The certificates of the executor-bridges; null without HTTPS. */
  certificates: TestCertificates | null
  databaseUrl: string
  namespace: string
  admin: { email: string; password: string }
  /** The folder of this suite. The suite deletes it at its end. */
  folder: string
  /** Kills a process, by default with SIGKILL, and waits for its end. Resolves with its exit code. */
  kill(name: ServiceName, signal?: NodeJS.Signals): Promise<number | null>
  /** Starts a stopped process, with further settings for this start only. Waits until the process is ready. */
  start(name: ServiceName, env?: Record<string, string>): Promise<void>
  /** Starts a stopped process, and does not wait until it is ready. */
  launch(name: ServiceName, env?: Record<string, string>): void
  /** The exit code of a process, or the signal that ended it. Null while the process runs, and before its first start. */
  exitOf(name: ServiceName): number | NodeJS.Signals | null
  isReady(name: ServiceName): Promise<boolean>
  /** The dependencies in the `/readyz` report of a process; null if the process does not answer. */
  dependenciesOf(name: ServiceName): Promise<Record<string, 'up' | 'down'> | null>
  /** Writes a new join token for an orchestration instance. */
  giveJoinToken(name: ServiceName, options?: JoinTokenOptions): Promise<void>
  pid(name: ServiceName): number
  /** Starts every stopped process, so that a failed test does not fail the next one. */
  restore(): Promise<void>
  /** The current metrics of a process. */
  metricsOf(name: ServiceName): Promise<Metrics>
  /** The log of a process, from all its starts. */
  logOf(name: ServiceName): string
  /** Stops all processes. Throws if a process does not exit with 0. */
  stop(): Promise<void>
}

/** A dozen processes start at once. */
const START_MS = 30_000

const PASSWORD = 'the administrator of a test'
/** PASSWORD with the lowest cost of bcrypt. The cost of the gateway takes a core for 200 ms at each login. */
const CHEAP_HASH = '$2b$04$I9j.Ztw2ePyypZkl0b4B/uEFhZeuQzmBJrc1ElGga3hoaLFN9rX1W'

const key = () => `test:${randomBytes(32).toString('base64')}`

interface Process {
  env: Record<string, string>
  main: string
  management: string
  /** Undefined for the network of this machine. */
  network: Network | undefined
  child: ChildProcess | null
}

/** Starts the suite as separate processes on real servers, with its own database, names and ports. */
export async function startSuite(options: SuiteOptions = {}): Promise<Suite> {
  const database = options.database ?? (await createTestDatabase())
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-suite-'))
  const namespace = testNamespace()
  const admin = { email: 'admin@example.com', password: PASSWORD }
  const certificates = makeCertificatesFor(options)
  const processes = await describe({ database, folder, namespace, admin, certificates, options })
  const suite = control({ processes, database, folder, namespace, admin, certificates })
  try {
    const names = [...processes.keys()]
    const isSecond = (name: ServiceName) => /-[23]$/.test(name)
    // A dozen processes that start together would not be ready in time.
    await Promise.all(names.filter((name) => !isSecond(name)).map((name) => suite.start(name)))
    await Promise.all(names.filter(isSecond).map((name) => suite.start(name)))
    await makeLoginCheap(database.url, admin.email)
  } catch (error) {
    await suite.stop().catch(() => {})
    throw error
  }
  return suite
}

/** For a user with the password of the administrator. */
export async function makeLoginCheap(databaseUrl: string, email: string): Promise<void> {
  const client = await connectTo(databaseUrl)
  await client.query('UPDATE users SET password_hash = $1 WHERE email = $2', [CHEAP_HASH, email])
  await client.end()
}

function makeCertificatesFor({ tls, networks = [] }: SuiteOptions): TestCertificates | null {
  if (tls !== true && networks.length === 0) return null
  return makeCertificates({ names: ['localhost', '127.0.0.1', ...networks.map(({ hostAddress }) => hostAddress)] })
}

async function describe(made: {
  database: TestDatabase
  folder: string
  namespace: string
  admin: { email: string; password: string }
  certificates: TestCertificates | null
  options: SuiteOptions
}): Promise<Map<ServiceName, Process>> {
  const { database, folder, namespace, admin, certificates, options } = made
  const serversOf = (service: BrokerUser) => ({
    DATABASE_URL: database.urlOf(service),
    RABBITMQ_URL: brokerUrlOf(service),
  })
  const encryption = { SLIPWAY_ENCRYPTION_KEYS: key() }
  const [gateway, logStream, bridge] = [await freePort(), await freePort(), await freePort()]
  const secondBridge = options.secondReplicas === true ? await freePort() : bridge

  const scheme = certificates ? 'https' : 'http'
  const trust: Record<string, string> = certificates ? { SLIPWAY_BRIDGE_CA_FILE: certificates.caFile } : {}
  const keyPair: Record<string, string> = certificates
    ? {
        SLIPWAY_BRIDGE_TLS_CERT_FILE: certificates.certFile,
        SLIPWAY_BRIDGE_TLS_KEY_FILE: certificates.keyFile,
      }
    : {}

  const { networks = [] } = options
  const instance = async (name: string, bridgePort: number, network?: Network) => ({
    SLIPWAY_JOIN_TOKEN_FILE: await writeJoinToken(folder, name, database.url, options),
    SLIPWAY_INSTANCE_NAME: name,
    SLIPWAY_INSTANCE_CAPACITY: String(options.capacity ?? 10),
    ...trust,
    SLIPWAY_BRIDGE_URL: `${scheme}://${network?.hostAddress ?? '127.0.0.1'}:${bridgePort}`,
    // The test checks readiness from outside the network.
    ...(network ? { SLIPWAY_MANAGEMENT_HOST: network.address } : {}),
    SLIPWAY_JOURNAL_DIR: path.join(folder, `journal-${name}`),
  })
  const environments = new Map<ServiceName, Record<string, string>>([
    [
      'gateway',
      {
        ...serversOf('gateway'),
        REDIS_URL: redisUrlOf('gateway'),
        ...encryption,
        SLIPWAY_JWT_KEYS: key(),
        SLIPWAY_ADMIN_EMAIL: admin.email,
        SLIPWAY_ADMIN_PASSWORD: admin.password,
        SLIPWAY_HOST: '127.0.0.1',
        SLIPWAY_PORT: String(gateway),
        SLIPWAY_LOG_STREAM_URL: `http://127.0.0.1:${logStream}`,
        SLIPWAY_COOKIE_SECURE: 'false',
        // All tests use one address, so limits are off. Tests of limits set them for other addresses.
        SLIPWAY_RATE_LIMIT_OVERRIDES: '127.0.0.1/32=0',
        SLIPWAY_LOGIN_OVERRIDES: '127.0.0.1/32=0',
      },
    ],
    ['planner', { ...serversOf('planner'), ...encryption }],
    ['dispatcher', { ...serversOf('dispatcher'), ...encryption }],
    [
      'executor-bridge',
      {
        ...serversOf('executor-bridge'),
        REDIS_URL: redisUrlOf('executor-bridge'),
        ...encryption,
        ...keyPair,
        SLIPWAY_BRIDGE_HOST: networks.length > 0 ? '0.0.0.0' : '127.0.0.1',
        SLIPWAY_BRIDGE_PORT: String(bridge),
      },
    ],
    [
      'log-stream',
      {
        ...serversOf('log-stream'),
        REDIS_URL: redisUrlOf('log-stream'),
        ...encryption,
        SLIPWAY_LOG_STREAM_HOST: '127.0.0.1',
        SLIPWAY_LOG_STREAM_PORT: String(logStream),
        SLIPWAY_RATE_LIMIT_OVERRIDES: '127.0.0.1/32=0',
      },
    ],
    ['orchestration-instance', await instance('one', bridge, networks[0])],
  ])
  const addSecond = (name: (typeof SERVICES)[number], more: Record<string, string> = {}) =>
    environments.set(`${name}-2`, { ...environments.get(name), ...more })
  if (options.secondInstance === true || networks.length > 1) {
    addSecond('orchestration-instance', await instance('two', secondBridge, networks[1]))
  }
  if (networks.length > 2) environments.set('orchestration-instance-3', await instance('three', bridge, networks[2]))
  if (options.thirdInstance === true) {
    environments.set('orchestration-instance-3', await instance('three', bridge))
  }
  if (options.secondGateway === true) addSecond('gateway', { SLIPWAY_PORT: String(await freePort()) })
  if (options.secondLogStream === true) addSecond('log-stream', { SLIPWAY_LOG_STREAM_PORT: String(await freePort()) })
  if (options.secondReplicas === true) {
    addSecond('planner')
    addSecond('dispatcher')
    addSecond('executor-bridge', { SLIPWAY_BRIDGE_PORT: String(secondBridge) })
  }

  const processes = new Map<ServiceName, Process>()
  const instances = [...environments.keys()].filter((name) => name.startsWith('orchestration-instance'))
  for (const [name, env] of environments) {
    const management = await freePort()
    const network = networks[instances.indexOf(name)]
    processes.set(name, {
      main: path.join(repositoryRoot, options.bundles ?? '', 'services', name.replace(/-[23]$/, ''), 'dist/bundle.js'),
      management: `http://${network?.address ?? '127.0.0.1'}:${management}`,
      network,
      child: null,
      env: {
        PATH: process.env['PATH'] ?? '/usr/bin:/bin',
        HOME: process.env['HOME'] ?? folder,
        SLIPWAY_NAMESPACE: namespace,
        SLIPWAY_MANAGEMENT_PORT: String(management),
        SLIPWAY_LOG_LEVEL: 'info',
        ...env,
        ...options.env,
        ...(await options.settingsOf?.(name, environments)),
      },
    })
  }
  return processes
}

/** Writes the join token of one instance. Releases the name first, because the database may have been used before. */
async function writeJoinToken(folder: string, name: string, databaseUrl: string, { env }: SuiteOptions) {
  const keys = (env?.['SLIPWAY_INSTANCE_LABELS'] ?? '').split(',').flatMap((pair) => pair.split('=')[0] || [])
  const client = await connectTo(databaseUrl)
  await client.query(`UPDATE instances SET removed_at = now(), credential_hash = '' WHERE name = $1`, [name])
  await client.end()
  const file = path.join(folder, `join-token-${name}`)
  const labels = Object.fromEntries(keys.map((key) => [key, null]))
  fs.writeFileSync(file, await addJoinToken(databaseUrl, { labels }), { mode: 0o600 })
  return file
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const ended = (child: ChildProcess) =>
  hasEnded(child) ? Promise.resolve() : new Promise<void>((resolve) => child.once('exit', () => resolve()))

function control(made: {
  processes: Map<ServiceName, Process>
  database: TestDatabase
  folder: string
  namespace: string
  admin: { email: string; password: string }
  certificates: TestCertificates | null
}): Suite {
  const { processes, database, folder, namespace, admin, certificates } = made
  const logFile = (name: ServiceName) => path.join(folder, `${name}.log`)
  const logOf = (name: ServiceName) => (fs.existsSync(logFile(name)) ? fs.readFileSync(logFile(name), 'utf8') : '')

  const processOf = (name: ServiceName): Process => {
    const found = processes.get(name)
    if (found === undefined) throw new Error(`this suite has no ${name}: see SuiteOptions`)
    return found
  }
  const childOf = (name: ServiceName): ChildProcess => {
    const { child } = processOf(name)
    if (child === null) throw new Error(`${name} is not running`)
    return child
  }

  const bridgeAt = ({ env }: Process) => `${certificates ? 'https' : 'http'}://127.0.0.1:${env['SLIPWAY_BRIDGE_PORT']}`

  const readiness = async (name: ServiceName) => {
    try {
      return await fetch(`${processOf(name).management}/readyz`, { signal: AbortSignal.timeout(2_000) })
    } catch {
      return null
    }
  }
  const isReady = async (name: ServiceName) => (await readiness(name))?.status === 200

  const launch = (name: ServiceName, env: Record<string, string> = {}) => {
    const service = processOf(name)
    const log = fs.openSync(logFile(name), 'a')
    const program = [process.execPath, service.main]
    const inside = service.network ? ['ip', 'netns', 'exec', service.network.name] : []
    const [command = '', ...args] = [...inside, ...program]
    const child = spawn(command, args, {
      env: { ...service.env, ...env },
      stdio: ['ignore', log, log],
    })
    fs.closeSync(log)
    service.child = child
    return child
  }

  const start = async (name: ServiceName, env: Record<string, string> = {}) => {
    const child = launch(name, env)
    await waitFor(async () => hasEnded(child) || (await isReady(name)), {
      timeoutMs: START_MS,
      what: `${name} to be ready`,
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${logOf(name).slice(-4_000)}`)
    })
    if (hasEnded(child)) throw new Error(`${name} ended at its start:\n${logOf(name).slice(-4_000)}`)
  }

  return {
    url: `http://127.0.0.1:${processOf('gateway').env['SLIPWAY_PORT']}`,
    secondUrl: `http://127.0.0.1:${processes.get('gateway-2')?.env['SLIPWAY_PORT'] ?? 'none'}`,
    bridgeUrl: bridgeAt(processOf('executor-bridge')),
    secondBridgeUrl: bridgeAt(processes.get('executor-bridge-2') ?? processOf('executor-bridge')),
    certificates,
    logStreams: [...processes].flatMap(([name, { env }]) =>
      name.startsWith('log-stream') ? [`http://127.0.0.1:${env['SLIPWAY_LOG_STREAM_PORT']}`] : [],
    ),
    databaseUrl: database.url,
    namespace,
    admin,
    folder,
    logOf,
    isReady,
    async dependenciesOf(name) {
      const report = (await (await readiness(name))?.json()) as
        | { dependencies: Record<string, 'up' | 'down'> }
        | undefined
      return report?.dependencies ?? null
    },
    start,
    launch: (name, env) => void launch(name, env),
    exitOf(name) {
      const { child } = processOf(name)
      return child === null ? null : (child.exitCode ?? child.signalCode)
    },
    async giveJoinToken(name, options) {
      const file = processOf(name).env['SLIPWAY_JOIN_TOKEN_FILE']
      if (file === undefined) throw new Error(`${name} is not an orchestration instance`)
      fs.writeFileSync(file, await addJoinToken(database.url, options))
    },
    metricsOf: (name) => readMetrics(`${processOf(name).management}/metrics`),
    pid: (name) => childOf(name).pid ?? 0,
    async restore() {
      const dead = [...processes].filter(([, { child }]) => child === null || hasEnded(child)).map(([name]) => name)
      await Promise.all(dead.map((name) => start(name)))
    },
    async kill(name, signal = 'SIGKILL') {
      const child = childOf(name)
      child.kill(signal)
      await ended(child)
      processOf(name).child = null
      return child.exitCode
    },
    async stop() {
      const complaints: string[] = []
      await Promise.all(
        [...processes].map(async ([name, { child }]) => {
          if (child === null) return
          child.kill('SIGTERM')
          const killer = setTimeout(() => child.kill('SIGKILL'), 25_000)
          await ended(child)
          clearTimeout(killer)
          if (child.exitCode !== 0) complaints.push(`${name} ended with ${child.exitCode ?? child.signalCode}`)
        }),
      )
      await removeNamespace(namespace)
      await database.drop()
      const logs = complaints.map((line) => `${line}\n${logOf(line.split(' ')[0] as ServiceName).slice(-2_000)}`)
      fs.rmSync(folder, { recursive: true, force: true })
      certificates?.remove()
      if (logs.length > 0) throw new Error(logs.join('\n'))
    },
  }
}
