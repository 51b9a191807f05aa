import { createHash } from 'node:crypto'
import { type Command, type CommandEnd, CommandError, type CommandIo, type Transport } from '@slipway/commands'
import type { RunConnection } from '@slipway/contracts'
import { sleep } from '@slipway/runtime'

export type Simulation = Extract<RunConnection, { type: 'simulated' }>

/** The output has at most this many pieces. */
const MAX_PIECES = 20

/** Answers for a simulated target. Executes nothing. */
export class SimulatedTransport implements Transport {
  readonly #targetId: string
  readonly #simulation: Simulation

  constructor(targetId: string, simulation: Simulation) {
    this.#targetId = targetId
    this.#simulation = simulation
  }

  async run(command: Command, io: CommandIo, signal: AbortSignal): Promise<CommandEnd> {
    const { duration_ms: duration = 0, output_lines: lines = 1, drop_rate: dropRate = 0 } = this.#simulation
    const isDropped = this.#draw('drop', command) < dropRate
    // A simulated loss of the connection happens half-way.
    const share = isDropped ? 0.5 : 1
    const pieces = Math.max(1, Math.min(MAX_PIECES, lines))
    const until = Math.ceil(pieces * share)
    for (let piece = 0; piece < until; piece++) {
      const [from, to] = [piece, piece + 1].map((at) => Math.ceil((lines * at) / pieces)) as [number, number]
      await sleep((duration * share) / until, signal)
      if (signal.aborted) return { exitCode: null, signal: 'SIGTERM', confirmed: true }
      await io.onOutput('stdout', Buffer.from(outputOf(from, to, lines)))
    }
    if (isDropped) throw new CommandError('connection was lost while the command ran', 'target_connection_lost')
    const exitCode = this.#exitCodeOf(command)
    if (exitCode !== 0) await io.onOutput('stderr', Buffer.from(`simulated: exit code ${exitCode}\n`))
    return { exitCode, signal: null, confirmed: true }
  }

  close(): void {}

  #exitCodeOf(command: Command): number {
    const { exit_code: code, failure_rate: rate } = this.#simulation
    // Rollback scripts always succeed, so a simulated failure shows the whole rollback.
    if (command.identity.rollback) return 0
    if (rate === undefined) return code ?? 0
    return this.#draw('failure', command) < rate ? code || 1 : 0
  }

  /** A pseudorandom number in [0, 1): equal for the same attempt of the same action on this target in every deployment. */
  #draw(what: string, { identity: { action, attempt, rollback } }: Command): number {
    const text = `${what}/${this.#targetId}/${action}/${attempt}/${rollback}`
    return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
  }
}

function outputOf(from: number, to: number, lines: number): string {
  return Array.from({ length: to - from }, (_, n) => `simulated: line ${from + n + 1} of ${lines}\n`).join('')
}
