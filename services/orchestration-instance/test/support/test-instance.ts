import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Writable } from 'node:stream'
import { ConfigurationError, createLogger, Health, loadConfig } from '@slipway/runtime'
import { config } from '../../src/config.ts'
import { startInstance } from '../../src/instance.ts'
import { type FakeBridge, JOIN_TOKEN } from './fake-bridge.ts'
import { eventually } from './wait.ts'

interface Running {
  health: Health
  /** Ends the instance as SIGTERM does. */
  stop(): Promise<void>
}

/** The service in this process. It can be stopped, can crash, and starts again with the same folder. */
export class TestInstance {
  readonly #bridge: FakeBridge
  #folder = newFolder()
  /** A folder that belongs to the test. */
  readonly outside = newFolder()
  #running: Running | null = null
  /** How long the instance waits for its commands when it stops. */
  endCommandsMs = 100
  /** The log, and the error that ended the instance. */
  output = ''

  constructor(bridge: FakeBridge) {
    this.#bridge = bridge
  }

  get folder(): string {
    return this.#folder
  }

  /** The file with the join token. */
  get tokenFile(): string {
    return path.join(this.folder, 'join-token')
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  async isReady(): Promise<boolean> {
    return (await this.#running?.health.report())?.ready === true
  }

  /** Starts the instance and waits for its first sync. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    const before = this.#bridge.syncs.length
    await this.launch(settings)
    await eventually('the instance sends a sync', () => this.#bridge.syncs.length > before)
  }

  /** Starts the instance without waiting for the bridge. Throws the error with which the service would not start. */
  async launch(settings: Record<string, string> = {}): Promise<void> {
    if (!existsSync(this.tokenFile)) writeFileSync(this.tokenFile, `${JOIN_TOKEN}\n`, { mode: 0o600 })
    const write = (text: string) => {
      this.output += text
    }
    const stream = new Writable({
      write(chunk, _encoding, done) {
        write(String(chunk))
        done()
      },
    })
    const abort = new AbortController()
    const steps: (() => unknown)[] = []
    const stop = async () => {
      if (this.#running === running) this.#running = null
      abort.abort()
      for (const step of steps.splice(0).reverse()) await step()
    }
    const running = { health: new Health(), stop }
    this.#running = running
    try {
      await startInstance(
        {
          name: 'orchestration-instance',
          config: loadConfig(config, {
            SLIPWAY_INSTANCE_NAME: 'under-test',
            SLIPWAY_BRIDGE_URL: this.#bridge.url,
            SLIPWAY_JOIN_TOKEN_FILE: this.tokenFile,
            SLIPWAY_JOURNAL_DIR: this.folder,
            ...settings,
          }),
          logger: createLogger({ service: 'orchestration-instance', stream }),
          health: running.health,
          signal: abort.signal,
          onStop: (_name, step) => steps.push(step),
          fatal: (error) => {
            write(String(error))
            void stop()
          },
        },
        { endCommandsMs: this.endCommandsMs, readTokenMs: 20 },
      )
    } catch (error) {
      if (error instanceof ConfigurationError) write(error.message)
      await stop()
      throw error
    }
    running.health.setServing(true)
  }

  /** Ends the instance as SIGTERM does. */
  async stop(): Promise<void> {
    await this.#running?.stop()
  }

  /**
   * Leaves what a killed process leaves: the folder as it is on the disk now, and a bridge that hears nothing more. The commands
   * of the instance end.
   */
  async crash(): Promise<void> {
    await this.#bridge.close()
    const former = this.folder
    this.#folder = newFolder()
    // The pipes of commands cannot be copied, and no instance reads what its predecessor left there.
    cpSync(former, this.folder, { recursive: true, filter: (file) => path.basename(file) !== 'commands' })
    await this.stop()
    rmSync(former, { recursive: true, force: true, maxRetries: 5 })
    await this.#bridge.listen()
  }

  async remove(): Promise<void> {
    await this.stop()
    for (const folder of [this.folder, this.outside]) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }
}

function newFolder(): string {
  return mkdtempSync(path.join(os.tmpdir(), 'slipway-instance-'))
}
