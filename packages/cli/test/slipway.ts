import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../src/io.ts'
import { main } from '../src/main.ts'

export interface Ended {
  code: number
  stdout: string
  stderr: string
}

export interface Running {
  /** The output so far. */
  stdout(): string
  stderr(): string
  /** Types this on standard input. */
  type(text: string): void
  /** Does what Ctrl-C does. */
  interrupt(): void
  ended: Promise<Ended>
}

export interface RunOptions {
  env?: Record<string, string | undefined>
  /** All of standard input. Not for a terminal: a test types there. */
  stdin?: string
  /** Whether a person sits at a terminal. */
  isTerminal?: boolean
  /** What the browser of the user does with an address. Default: there is no browser. */
  openBrowser?: (address: string) => Promise<unknown>
}

/** Polls do not wait for a second and more in a test. */
const POLL_FASTER = 20

/** The streams and the environment of a command line of its own. */
export function createIo({ env = {}, stdin = '', isTerminal = false, openBrowser }: RunOptions = {}) {
  const listeners = new Set<() => void>()
  const input = Object.assign(new PassThrough(), { isTTY: isTerminal })
  if (!isTerminal) input.end(stdin)
  const [stdout, stderr] = [createOutput(isTerminal), createOutput(isTerminal)]
  const io: Io = {
    stdin: input,
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { SLIPWAY_TOKEN: 'token', ...env },
    home: '/nonexistent',
    onInterrupt(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    sleep: (ms, signal) => sleep(ms / POLL_FASTER, undefined, { signal }),
    openBrowser: openBrowser ?? (() => Promise.reject(new Error('there is no browser'))),
    retryForMs: 0,
  }
  const interrupt = () => {
    for (const listener of listeners) listener()
  }
  return { io, stdout: stdout.read, stderr: stderr.read, type: (text: string) => input.write(text), interrupt }
}

function createOutput(isTerminal: boolean) {
  let text = ''
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: isTerminal, columns: 120, rows: 40 })
  stream.on('data', (chunk: string) => {
    text += chunk
  })
  return { stream, read: () => text }
}

/** Starts a command in this process. */
export function startSlipway(args: readonly string[], options: RunOptions = {}): Running {
  const { io, ...running } = createIo(options)
  const ended = main(args, io).then((code) => ({ code, stdout: running.stdout(), stderr: running.stderr() }))
  return { ...running, ended }
}

/** Runs a command with this server. */
export const runSlipway = (url: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  startSlipway(args, { ...options, env: { SLIPWAY_URL: url, ...options.env } }).ended
