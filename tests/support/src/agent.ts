import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from './ports.ts'
import { repositoryRoot } from './repository.ts'
import { waitFor } from './waiting.ts'

export interface AgentSettings {
  bridgeUrl: string
  token: string
  /** The address for instances; by default, the real one. */
  address?: string
  settings?: Record<string, string>
}

export interface AgentProcess {
  port: number
  /** The state folder of the agent. */
  folder: string
  readonly output: string
  readonly pid: number
  /** Starts the agent again with its folder. */
  start(): Promise<void>
  /** Sends the signal and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<void>
  /** Kills the agent and deletes its folder. */
  remove(): Promise<void>
}

const program = path.join(repositoryRoot, 'services/target-agent/dist/bundle.js')

let built = false

function build(): void {
  const tsc = path.join(repositoryRoot, 'node_modules/.bin/tsc')
  if (!built) execFileSync(tsc, ['-b', 'services/target-agent'], { cwd: repositoryRoot, stdio: 'inherit' })
  built = true
}

/** Runs `target-agent enrol`. Returns its exit code and output. */
export function enrolAgent(
  { bridgeUrl, token, address, settings }: AgentSettings,
  { folder, port }: { folder: string; port: number },
): Promise<{ code: number; stdout: string; stderr: string }> {
  build()
  const args = ['enrol', '--url', bridgeUrl, '--token', '-', ...(address === undefined ? [] : ['--address', address])]
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          SLIPWAY_AGENT_STATE_DIR: folder,
          SLIPWAY_AGENT_PORT: String(port),
          ...settings,
        },
      },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    )
    child.stdin?.end(`${token}\n`)
  })
}

/** Starts a real agent that is enrolled and listens on loopback. */
export async function startAgent(options: AgentSettings): Promise<AgentProcess> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-agent-'))
  const port = await freePort()
  const enrolled = await enrolAgent(options, { folder, port })
  if (enrolled.code !== 0) throw new Error(`the agent did not enrol: ${enrolled.stderr}`)
  let child: ChildProcess | null = null
  let output = ''
  const isRunning = () => child !== null && child.exitCode === null && child.signalCode === null

  const agent: AgentProcess = {
    port,
    folder,
    get output() {
      return output
    },
    get pid() {
      return child?.pid ?? 0
    },
    async start() {
      const started = spawn(process.execPath, [program], {
        env: {
          PATH: process.env['PATH'] ?? '',
          SLIPWAY_AGENT_STATE_DIR: folder,
          SLIPWAY_AGENT_HOST: '127.0.0.1',
          SLIPWAY_AGENT_PORT: String(port),
          ...options.settings,
          ...(options.address === undefined ? {} : { SLIPWAY_AGENT_ADDRESS: options.address }),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child = started
      const from = output.length
      for (const stream of [started.stdout, started.stderr]) {
        stream.on('data', (chunk) => {
          output += String(chunk)
        })
      }
      await waitFor(
        () => {
          if (started.exitCode !== null) throw new Error(`the agent ended with ${started.exitCode}:\n${output}`)
          return output.slice(from).includes('"message":"started"')
        },
        { what: 'the agent to listen' },
      )
    },
    async end(signal) {
      const running = child
      if (!running || !isRunning()) return
      const exited = new Promise((resolve) => running.once('exit', resolve))
      running.kill(signal)
      await exited
    },
    async remove() {
      await agent.end('SIGKILL')
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await agent.start()
  return agent
}
