import { execFile, execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { freePort, waitFor } from '@slipway/testing'
import { newestPath, serverFolder } from './folder.ts'

const execute = promisify(execFile)
const PASSWORD = 'campaign'

/** A RabbitMQ of this campaign alone. */
export class RabbitMq {
  readonly url: string
  readonly #folder: string
  readonly #ports: { clients: number; nodes: number; mapper: number }

  private constructor(folder: string, ports: { clients: number; nodes: number; mapper: number }) {
    this.#folder = folder
    this.#ports = ports
    this.url = `amqp://slipway:${PASSWORD}@127.0.0.1:${ports.clients}`
  }

  static async start(): Promise<RabbitMq> {
    const folder = serverFolder('rabbitmq')
    for (const name of ['home', 'log', 'mnesia']) fs.mkdirSync(path.join(folder, name))
    fs.writeFileSync(path.join(folder, 'plugins'), '[].')
    fs.writeFileSync(
      path.join(folder, 'rabbitmq.conf'),
      [
        'default_user = slipway',
        `default_pass = ${PASSWORD}`,
        'disk_free_limit.absolute = 50MB',
        'vm_memory_high_watermark.absolute = 1GB',
        'raft.wal_max_size_bytes = 64000000',
        'log.file.level = warning',
        '',
      ].join('\n'),
    )
    const ports = { clients: await freePort(), nodes: await freePort(), mapper: await freePort() }
    const server = new RabbitMq(folder, ports)
    await server.launch()
    return server
  }

  async launch(): Promise<void> {
    const out = fs.openSync(path.join(this.#folder, 'log', 'stdout'), 'a')
    fs.rmSync(path.join(this.#folder, 'pid'), { force: true })
    spawn(path.join(programs(), 'rabbitmq-server'), {
      cwd: '/',
      detached: true,
      stdio: ['ignore', out, out],
      env: this.#environment(),
    }).unref()
    fs.closeSync(out)
    await waitFor(() => answers(this.#ports.clients), { timeoutMs: 180_000, what: 'RabbitMQ to answer' })
  }

  /** Kills the node, and starts it with its messages or without. */
  async restart({ empty }: { empty: boolean }): Promise<void> {
    await this.#kill()
    if (empty) {
      fs.rmSync(path.join(this.#folder, 'mnesia'), { recursive: true, force: true })
      fs.mkdirSync(path.join(this.#folder, 'mnesia'))
    }
    await this.launch()
  }

  /** Runs rabbitmqctl and returns what it prints. */
  async control(...args: string[]): Promise<string> {
    const { stdout } = await execute(path.join(programs(), 'rabbitmqctl'), args, { env: this.#environment() })
    return stdout
  }

  async stop(): Promise<void> {
    await this.#kill()
    try {
      execFileSync('epmd', ['-port', String(this.#ports.mapper), '-kill'], { stdio: 'ignore' })
    } catch {
      // The port mapper has ended already.
    }
    fs.rmSync(this.#folder, { recursive: true, force: true })
  }

  async #kill(): Promise<void> {
    const file = path.join(this.#folder, 'pid')
    if (!fs.existsSync(file)) return
    const pid = Number(fs.readFileSync(file, 'utf8'))
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      return
    }
    await waitFor(() => !isAlive(pid), { what: 'RabbitMQ to end' })
  }

  #environment(): Record<string, string> {
    const [folder, { clients, nodes, mapper }] = [this.#folder, this.#ports]
    return {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: `${folder}/home`,
      LC_ALL: 'C.UTF-8',
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq`,
      RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/plugins`,
      RABBITMQ_GENERATED_CONFIG_DIR: `${folder}/generated`,
      RABBITMQ_PID_FILE: `${folder}/pid`,
      RABBITMQ_MNESIA_BASE: `${folder}/mnesia`,
      RABBITMQ_LOG_BASE: `${folder}/log`,
      RABBITMQ_NODENAME: 'campaign@localhost',
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(clients),
      RABBITMQ_DIST_PORT: String(nodes),
      ERL_EPMD_PORT: String(mapper),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
        '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none',
    }
  }
}

function programs(): string {
  const folder = newestPath('/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin')
  if (folder === null) throw new Error('RabbitMQ is missing: run `scripts/infra.sh packages test`')
  return folder
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
