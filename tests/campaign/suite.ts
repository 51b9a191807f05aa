import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  loginToSuite,
  type PrivateRedis,
  type ServiceName,
  type Suite,
  startRedis,
  startSuite,
  startTcpProxy,
  type TcpProxy,
  waitFor,
} from '@slipway/testing'
import { uptime } from './clock.ts'
import { Clocks } from './servers/clocks.ts'
import { Postgres } from './servers/postgres.ts'
import { RabbitMq } from './servers/rabbitmq.ts'
import { mountDisk, type SmallDisk } from './servers/small-disk.ts'
import { addressSettings, CLIENT_LINKS, FULL_DISK, linkName, PROCESSES, STEPPED_CLOCKS } from './topology.ts'

export const CAPACITY = 8
const SUPERVISE_MS = 250
/** A service that is told to end must end within 25 s. */
const END_MS = 25_000

export interface Servers {
  postgres: Postgres
  rabbitmq: RabbitMq
  redis: PrivateRedis
}

/**
 * Starts servers that belong to the campaign alone. One server after the other: each looks for free ports.
 * If one does not start, those before it are stopped.
 */
export async function startServers(): Promise<Servers> {
  const started: Partial<Servers> = {}
  try {
    started.postgres = await Postgres.start()
    started.rabbitmq = await RabbitMq.start()
    started.redis = await startRedis()
  } catch (error) {
    await stopServers(started)
    throw error
  }
  const { postgres, rabbitmq, redis } = started
  // The kit of tests reads the addresses of its servers here.
  for (const name of Object.keys(process.env)) {
    if (/^(DATABASE|RABBITMQ|REDIS)_URL/.test(name)) delete process.env[name]
  }
  process.env['DATABASE_URL'] = postgres.url
  process.env['RABBITMQ_URL'] = rabbitmq.url
  process.env['REDIS_URL'] = redis.url
  return { postgres, rabbitmq, redis }
}

export async function stopServers({ postgres, rabbitmq, redis }: Partial<Servers>): Promise<void> {
  await redis?.stop()
  await rabbitmq?.stop()
  await postgres?.stop()
}

type OnExit = (name: ServiceName, code: number | string, at: number) => void

/**
 * Two replicas of each service, three instances, servers of their own, and a proxy between each process and what it connects to.
 * A supervisor starts processes again that ended, as Kubernetes and systemd do.
 */
export class CampaignSuite {
  readonly suite: Suite
  readonly servers: Servers
  readonly links: ReadonlyMap<string, TcpProxy>
  /** The gateways, through the links of clients. */
  readonly urls: readonly string[]
  readonly apiKey: string
  /** The disk of one instance; null where this user may not mount one. */
  readonly disk: SmallDisk | null
  /** Null where libfaketime is not installed. */
  readonly clocks: Clocks | null
  /** The contents of the messages without meaning that were sent, in base64. */
  readonly garbage = new Set<string>()
  /** Called when a process has ended that the nemesis did not end. */
  onExit: OnExit = () => {}
  /** Processes that the nemesis has ended. The supervisor leaves them alone. */
  readonly held = new Set<ServiceName>()
  #supervising = true
  readonly #supervisor: Promise<void>

  private constructor(made: {
    suite: Suite
    servers: Servers
    links: Map<string, TcpProxy>
    urls: string[]
    apiKey: string
    disk: SmallDisk | null
    clocks: Clocks | null
  }) {
    this.suite = made.suite
    this.servers = made.servers
    this.links = made.links
    this.urls = made.urls
    this.apiKey = made.apiKey
    this.disk = made.disk
    this.clocks = made.clocks
    this.#supervisor = this.#supervise()
  }

  /** `bundles`: a folder with other bundles of the services. */
  static async start(servers: Servers, bundles?: string): Promise<CampaignSuite> {
    const links = new Map<string, TcpProxy>()
    const disk = mountDisk()
    const clocks = Clocks.find()
    const suite = await startSuite({
      capacity: CAPACITY,
      secondGateway: true,
      secondLogStream: true,
      secondReplicas: true,
      secondInstance: true,
      thirdInstance: true,
      ...(bundles === undefined ? {} : { bundles }),
      env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true' },
      async settingsOf(name, all) {
        const settings: Record<string, string> = {}
        for (const setting of addressSettings(name)) {
          const proxy = await startTcpProxy(addressOf(name, setting, all))
          links.set(linkName(name, setting), proxy)
          settings[setting] = proxy.url.replace(/\/$/, '')
        }
        if (STEPPED_CLOCKS.includes(name)) Object.assign(settings, clocks?.settingsOf(name))
        if (name === FULL_DISK && disk !== null) settings['SLIPWAY_JOURNAL_DIR'] = disk.folder
        return settings
      },
    })
    const urls: string[] = []
    for (const [index, url] of [suite.url, suite.secondUrl].entries()) {
      const proxy = await startTcpProxy(url)
      links.set(CLIENT_LINKS[index] as string, proxy)
      urls.push(proxy.url.replace(/\/$/, ''))
    }
    const admin = await loginToSuite(suite)
    const { status, body } = await admin.post('/auth/api-keys', { name: 'campaign' })
    if (status !== 201 && status !== 200) throw new Error(`the API key was answered with ${status}`)
    return new CampaignSuite({ suite, servers, links, urls, disk, clocks, apiKey: body.full_key })
  }

  link(name: string): TcpProxy {
    const found = this.links.get(name)
    if (found === undefined) throw new Error(`there is no link ${name}`)
    return found
  }

  /** Ends a process and waits for its end. Returns its exit code or signal. */
  async end(name: ServiceName, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | string> {
    this.held.add(name)
    const pid = this.suite.pid(name)
    if (this.suite.exitOf(name) === null) process.kill(pid, signal)
    const endsBy = uptime() + END_MS
    while (this.suite.exitOf(name) === null) {
      if (uptime() > endsBy) {
        process.kill(pid, 'SIGKILL')
        await waitFor(() => this.suite.exitOf(name) !== null, { what: `${name} to end` })
        return 'had to be killed'
      }
      await sleep(20)
    }
    return this.suite.exitOf(name) ?? 'gone'
  }

  launch(name: ServiceName): void {
    this.suite.launch(name)
    this.held.delete(name)
  }

  /** Returns the processes that are not ready. */
  async notReady(): Promise<ServiceName[]> {
    const states = await Promise.all(PROCESSES.map(async (name) => ({ name, ready: await this.suite.isReady(name) })))
    return states.filter(({ ready }) => !ready).map(({ name }) => name)
  }

  /** The families of faults that this machine does not allow, each with the reason. */
  passedOver(): string[] {
    return [
      ...(this.disk === null ? ['the disk (no right to mount one)'] : []),
      ...(this.clocks === null ? ['the clock (libfaketime is not installed)'] : []),
    ]
  }

  /** Copies the logs of all processes. */
  keepLogs(folder: string): void {
    for (const name of fs.readdirSync(this.suite.folder)) {
      if (name.endsWith('.log')) fs.copyFileSync(path.join(this.suite.folder, name), path.join(folder, name))
    }
  }

  /** Ends everything. Returns what did not end well. */
  async stop(): Promise<string[]> {
    this.#supervising = false
    await this.#supervisor
    const complaints = await this.suite.stop().then(
      () => [],
      (error: Error) => [error.message],
    )
    for (const proxy of this.links.values()) await proxy.close()
    this.disk?.remove()
    this.clocks?.remove()
    return complaints
  }

  async #supervise(): Promise<void> {
    const reported = new Map<ServiceName, number>()
    while (this.#supervising) {
      await sleep(SUPERVISE_MS)
      for (const name of PROCESSES) {
        if (this.held.has(name) || !this.#supervising) continue
        const code = this.suite.exitOf(name)
        if (code === null) continue
        const pid = this.suite.pid(name)
        if (reported.get(name) === pid) continue
        reported.set(name, pid)
        this.onExit(name, code, uptime())
        this.suite.launch(name)
      }
    }
  }
}

/** Each gateway uses its own log-stream. */
function addressOf(
  name: ServiceName,
  setting: string,
  all: ReadonlyMap<ServiceName, Readonly<Record<string, string>>>,
): string {
  if (name === 'gateway-2' && setting === 'SLIPWAY_LOG_STREAM_URL') {
    return `http://127.0.0.1:${all.get('log-stream-2')?.['SLIPWAY_LOG_STREAM_PORT']}`
  }
  const address = all.get(name)?.[setting]
  if (address === undefined) throw new Error(`${name} has no ${setting}`)
  return address
}
