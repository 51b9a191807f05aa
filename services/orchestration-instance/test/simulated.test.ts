import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { type CommandEnd, CommandError, Kill } from '@slipway/commands'
import { SimulatedTransport, type Simulation } from '../src/transports/simulated/simulated-transport.ts'
import { startOn } from './support/commands.ts'

interface Answer {
  end: CommandEnd | null
  stdout: string[]
  stderr: string[]
}

async function run(
  simulation: Omit<Simulation, 'type'>,
  { targetId = randomUUID() as string, attempt = 0, action = 0, rollback = false, abort = new AbortController() } = {},
): Promise<Answer> {
  const transport = new SimulatedTransport(targetId, { type: 'simulated', ...simulation })
  const identity = { deploymentId: randomUUID(), epoch: 1, target: 0, action, attempt, rollback }
  const started = startOn(transport, { script: 'exit 99', identity }, abort)
  const end = await started.end.catch((error: unknown) => {
    if (error instanceof CommandError) return null
    throw error
  })
  const { output } = started
  const lines = (text: string) => text.split('\n').slice(0, -1)
  return { end, stdout: lines(output.stdout), stderr: lines(output.stderr) }
}

const targets: string[] = Array.from({ length: 1_000 }, () => randomUUID())
const failures = async (simulation: Omit<Simulation, 'type'>, options = {}) => {
  const answers = await Promise.all(targets.map((targetId) => run(simulation, { targetId, ...options })))
  return answers.map(({ end }) => end === null || end.exitCode !== 0)
}
const count = (flags: boolean[]) => flags.filter(Boolean).length

describe('a simulated target', () => {
  test('succeeds without running the script, and marks every line as simulated', async () => {
    expect(await run({})).toEqual({
      end: { exitCode: 0, signal: null, confirmed: true },
      stdout: ['simulated: line 1 of 1'],
      stderr: [],
    })
    const { end, stdout, stderr } = await run({ exit_code: 7, output_lines: 1_234 })
    expect(end).toMatchObject({ exitCode: 7 })
    expect(stdout).toEqual(Array.from({ length: 1_234 }, (_, n) => `simulated: line ${n + 1} of 1234`))
    expect(stderr).toEqual(['simulated: exit code 7'])
    expect((await run({ output_lines: 0 })).stdout).toEqual([])
  })

  test('fails at its failure_rate with its exit code, and in the same cases when repeated', async () => {
    const simulation = { failure_rate: 0.2, exit_code: 42 }
    const first = await failures(simulation)
    expect(count(first)).toBeGreaterThan(140)
    expect(count(first)).toBeLessThan(260)
    expect(await failures(simulation)).toEqual(first)
    // Another action and a further attempt fail in other cases.
    expect(await failures(simulation, { action: 1 })).not.toEqual(first)
    expect(await failures(simulation, { attempt: 1 })).not.toEqual(first)
    expect(count(await failures({ failure_rate: 0 }))).toBe(0)
    expect(count(await failures({ failure_rate: 1 }))).toBe(1_000)
    expect((await run({ failure_rate: 1 })).end).toMatchObject({ exitCode: 1 })
    expect((await run(simulation, { targetId: targets[first.indexOf(true)] as string })).end?.exitCode).toBe(42)
  })

  test('succeeds in rollback scripts, unless the connection drops', async () => {
    expect((await run({ failure_rate: 1 }, { rollback: true })).end).toMatchObject({ exitCode: 0 })
    expect((await run({ exit_code: 3 }, { rollback: true })).end).toMatchObject({ exitCode: 0 })
    expect((await run({ drop_rate: 1 }, { rollback: true })).end).toBeNull()
  })

  test('drops its connection in the middle of the output at its drop_rate', async () => {
    const { end, stdout } = await run({ drop_rate: 1, output_lines: 10 })
    expect(end).toBeNull()
    expect(stdout).toHaveLength(5)
    const dropped = count(await failures({ drop_rate: 0.1 }))
    expect(dropped).toBeGreaterThan(50)
    expect(dropped).toBeLessThan(160)
  })

  test('ends at once when it is killed', async () => {
    const abort = new AbortController()
    const running = run({ duration_ms: 86_400_000, output_lines: 2 }, { abort })
    abort.abort(new Kill('cancelled', 10_000))
    expect(await running).toMatchObject({ end: { exitCode: null, signal: 'SIGTERM', confirmed: true }, stdout: [] })
  })
})
