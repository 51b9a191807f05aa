import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { freePort, waitFor } from '@slipway/testing'
import pg from 'pg'
import { asPostgres, newestPath, serverFolder } from './folder.ts'

const PASSWORD = 'campaign'

/** A Postgres of this campaign alone. */
export class Postgres {
  readonly url: string
  readonly #folder: string
  readonly #port: number
  #child: ChildProcess | null = null

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#port = port
    this.url = `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`
  }

  static async start(): Promise<Postgres> {
    const folder = serverFolder('postgres')
    const password = path.join(folder, 'password')
    fs.writeFileSync(password, PASSWORD)
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres:', folder])
    const options = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C.UTF-8', '--username=postgres']
    const files = [`--pgdata=${folder}/data`, `--pwfile=${password}`]
    const [command, args] = asPostgres(`${programs()}/initdb`, ...files, ...options)
    execFileSync(command, args, { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] })
    const server = new Postgres(folder, await freePort())
    await server.launch()
    return server
  }

  async launch(): Promise<void> {
    const log = fs.openSync(path.join(this.#folder, 'log'), 'a')
    const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300']
    const [command, args] = asPostgres(
      `${programs()}/postgres`,
      ...['-D', `${this.#folder}/data`, '-p', String(this.#port)],
      ...options.flatMap((option) => ['-c', option]),
    )
    // Detached, so that Ctrl-C ends it only after what uses it.
    const child = spawn(command, args, { cwd: '/', stdio: ['ignore', log, log], detached: true })
    this.#child = child
    fs.closeSync(log)
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    await waitFor(() => hasEnded() || this.#ask('SELECT 1'), { timeoutMs: 120_000, what: 'Postgres to answer' })
    if (hasEnded()) throw new Error(`Postgres did not start; its log is in ${this.#folder}`)
  }

  /** Fast: ends all sessions. Immediate: as after a crash. */
  async restart(mode: 'fast' | 'immediate'): Promise<void> {
    await this.#end(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await this.launch()
  }

  /** Ends sessions of clients, each with this probability. */
  async killConnections(share: number): Promise<void> {
    await this.#ask(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND application_name <> 'campaign'
          AND pid <> pg_backend_pid() AND random() < ${share}`,
    )
  }

  async stop(): Promise<void> {
    await this.#end('SIGQUIT')
    fs.rmSync(this.#folder, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }

  async #ask(sql: string): Promise<true> {
    const client = new pg.Client({ connectionString: this.url, application_name: 'campaign' })
    client.on('error', () => {})
    await client.connect()
    try {
      await client.query(sql)
      return true
    } finally {
      await client.end()
    }
  }
}

function programs(): string {
  const folder = newestPath('/usr/lib/postgresql/*/bin')
  if (folder === null) throw new Error('Postgres is missing: run `scripts/infra.sh packages test`')
  return folder
}
