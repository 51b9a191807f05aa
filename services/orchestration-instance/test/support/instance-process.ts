import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '@slipway/testing'
import { ENROLMENT_TOKEN, type FakeBridge } from './fake-bridge.ts'
import { eventually } from './wait.ts'

const service = path.resolve(import.meta.dirname, '../..')
const root = path.resolve(service, '../..')

/** The service as a real process, that can be killed and started again over the same folder. */
export class InstanceProcess {
  readonly #bridge: FakeBridge
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-instance-'))
  #port = 0
  #child: ChildProcess | null = null
  output = ''

  constructor(bridge: FakeBridge) {
    this.#bridge = bridge
  }

  /** Starts it and waits for its first heartbeat. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    build()
    this.#port ||= await freePort()
    const before = this.#bridge.heartbeats.length
    const child = spawn(process.execPath, [path.join(service, 'dist/main.js')], {
      env: {
        PATH: process.env['PATH'] ?? '',
        SLIPWAY_INSTANCE_NAME: 'under-test',
        SLIPWAY_INSTANCE_PORT: String(this.#port),
        SLIPWAY_INSTANCE_URL: `http://127.0.0.1:${this.#port}`,
        SLIPWAY_BRIDGE_URL: this.#bridge.url,
        SLIPWAY_ENROLMENT_TOKEN: ENROLMENT_TOKEN,
        SLIPWAY_JOURNAL_DIR: this.folder,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        this.output += String(chunk)
      })
    }
    await eventually('the instance sends a heartbeat', () => {
      if (child.exitCode !== null) throw new Error(`The instance ended with ${child.exitCode}:\n${this.output}`)
      return this.#bridge.heartbeats.length > before
    })
  }

  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Stops all its threads, as a paused machine would, or lets them go on; its commands are not touched. */
  freeze(frozen: boolean): void {
    this.#child?.kill(frozen ? 'SIGSTOP' : 'SIGCONT')
  }

  /** Sends a signal and waits for the end. Returns the exit code. */
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

let built = false

/** The process runs what tsc makes of the sources. */
function build(): void {
  if (!built) execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-b', service], { stdio: 'inherit' })
  built = true
}
