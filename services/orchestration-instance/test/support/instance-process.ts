import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '@slipway/testing'
import { type FakeBridge, JOIN_TOKEN } from './fake-bridge.ts'
import { eventually } from './wait.ts'

const service = path.resolve(import.meta.dirname, '../..')

/** The service as a real process, which can be killed and started again with the same folder. */
export class InstanceProcess {
  readonly #bridge: FakeBridge
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-instance-'))
  #child: ChildProcess | null = null
  output = ''
  managementPort = 0

  constructor(bridge: FakeBridge) {
    this.#bridge = bridge
  }

  /** The file with the join token. */
  get tokenFile(): string {
    return path.join(this.folder, 'join-token')
  }

  /** Starts the instance and waits for its first sync. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    const before = this.#bridge.syncs.length
    await this.launch(settings)
    await eventually('the instance sends a sync', () => {
      if (!this.isRunning) throw new Error(`The instance ended with ${this.#child?.exitCode}:\n${this.output}`)
      return this.#bridge.syncs.length > before
    })
  }

  /** Starts the instance without waiting. */
  async launch(settings: Record<string, string> = {}, { input }: { input?: string } = {}): Promise<void> {
    this.managementPort ||= await freePort()
    if (!existsSync(this.tokenFile)) writeFileSync(this.tokenFile, `${JOIN_TOKEN}\n`, { mode: 0o600 })
    const child = spawn(process.execPath, [path.join(service, 'dist/bundle.js')], {
      env: {
        PATH: process.env['PATH'] ?? '',
        SLIPWAY_INSTANCE_NAME: 'under-test',
        SLIPWAY_MANAGEMENT_PORT: String(this.managementPort),
        SLIPWAY_BRIDGE_URL: this.#bridge.url,
        SLIPWAY_JOIN_TOKEN_FILE: this.tokenFile,
        SLIPWAY_JOURNAL_DIR: this.folder,
        ...settings,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        this.output += String(chunk)
      })
    }
    // The process may end before it reads its standard input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  }

  /** The ports on which the process accepts connections, from the socket table of the kernel. */
  listeningPorts(): number[] {
    const pid = this.#child?.pid
    const sockets = new Set(
      readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        try {
          return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
        } catch {
          return []
        }
      }),
    )
    const listening = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').split('\n'))
    return listening.flatMap((line) => {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      const isOwn = state === '0A' && inode !== undefined && sockets.has(inode)
      return isOwn ? [Number.parseInt(local?.split(':')[1] ?? '', 16)] : []
    })
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Stops or continues all threads of the process, as on a paused machine. Its commands run on. */
  freeze(frozen: boolean): void {
    this.#child?.kill(frozen ? 'SIGSTOP' : 'SIGCONT')
  }

  /** Sends a signal and waits for the end of the process. Returns the exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child
    if (!child || !this.isRunning) return child?.exitCode ?? null
    const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    child.kill(signal)
    return exited
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
