import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunSpec, RunTarget } from '@slipway/contracts'
import { type Sshd, startSshd } from '@slipway/testing'
import { AgentHost } from './support/agent-host.ts'
import { FakeBridge } from './support/fake-bridge.ts'
import { InstanceProcess } from './support/instance-process.ts'
import { specOf } from './support/specs.ts'
import { eventually } from './support/wait.ts'

const bridge = new FakeBridge()
const instance = new InstanceProcess(bridge)
let sshd: Sshd
let host: AgentHost

const KINDS = ['local', 'ssh', 'agent'] as const
type Kind = (typeof KINDS)[number]

beforeAll(async () => {
  await bridge.listen()
  sshd = await startSshd()
  host = await AgentHost.start()
  await instance.start()
})

afterAll(async () => {
  await instance.remove()
  await host?.remove()
  await sshd?.stop()
  await bridge.close()
  expect(bridge.problems).toEqual([])
})

function target(kind: Kind): Partial<RunTarget> & { name: string } {
  const name = `${kind}-${randomUUID()}`
  if (kind === 'local') return { name, connection: { type: 'local' } }
  if (kind === 'agent') return { name, connection: { type: 'agent', agent: host.address() } }
  const { port, username, privateKey: private_key } = sshd
  return { name, connection: { type: 'ssh', host: '127.0.0.1', port, username, private_key } }
}

interface Case {
  script: string
  output: string[]
}

/** Scripts with different reactions to TERM, each with its whole output. */
const CASES: Record<string, Case> = {
  'at once': { script: `trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done`, output: ['up', 'bye'] },
  'after some time': {
    script: `trap 'sleep 4; echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done`,
    output: ['up', 'bye'],
  },
  'without a newline': {
    script: `trap 'printf bye; exit 3' TERM; echo up; while :; do sleep 0.1; done`,
    output: ['up', 'bye'],
  },
  'in a child that outlives the script': {
    script: `(trap 'sleep 3; echo child; exit' TERM; while :; do sleep 0.1; done) & trap 'exit 3' TERM; echo up; wait`,
    output: ['up', 'child'],
  },
  'in large amounts': {
    script: `trap 'seq 1 20000; echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done`,
    output: ['up', ...Array.from({ length: 20_000 }, (_, n) => String(n + 1)), 'bye'],
  },
  'and goes on until KILL': {
    script: `trap 'echo told' TERM; echo up; while :; do sleep 1; done`,
    output: ['up', 'told'],
  },
}
const IN_ANOTHER_SESSION: Record<string, Case> = {
  'in another session': {
    script: `(trap '' TERM; exec setsid sh -c 'sleep 4; echo child') & trap 'exit 3' TERM; echo up; wait`,
    output: ['up', 'child'],
  },
}
/** Over ssh the shell of the connection keeps the streams open, so the end of the last writer cannot be detected. */
const CASES_OF: Record<Kind, Record<string, Case>> = {
  local: { ...CASES, ...IN_ANOTHER_SESSION },
  agent: { ...CASES, ...IN_ANOTHER_SESSION },
  ssh: CASES,
}

/** The timeout of a command. On a busy machine, twenty shells need some seconds to start. */
const SECONDS = 8

/** Runs all scripts at the same time, each in its own run. */
async function outputsOf(
  kinds: readonly Kind[],
  runOf: (script: string) => Parameters<typeof specOf>[0],
  ended: (spec: RunSpec) => Promise<unknown> = (spec) => bridge.finished(spec, 50_000),
) {
  const runs = kinds.flatMap((kind) =>
    Object.entries(CASES_OF[kind]).map(async ([name, { script }]): Promise<[string, string[]]> => {
      const spec: RunSpec = specOf({ targets: [target(kind)], ...runOf(script) })
      await bridge.startRun(spec)
      await ended(spec)
      return [`${kind}: ${name}`, bridge.output(spec)]
    }),
  )
  return Object.fromEntries(await Promise.all(runs))
}

const expected = (kinds: readonly Kind[]) =>
  Object.fromEntries(
    kinds.flatMap((kind) => Object.entries(CASES_OF[kind]).map(([name, { output }]) => [`${kind}: ${name}`, output])),
  )

describe('a killed command on a target of any kind has all its output in the log', () => {
  test('after the timeout of the command', async () => {
    const outputs = await outputsOf(KINDS, (script) => ({ actions: [{ script, timeout_seconds: SECONDS }] }))
    expect(outputs).toEqual(expected(KINDS))
  })

  test('after a cancel of the deployment', async () => {
    const outputs = await outputsOf(
      KINDS,
      (script) => ({ actions: [{ script }] }),
      async (spec) => {
        await eventually('the command runs', () => bridge.output(spec).includes('up'))
        bridge.stop(spec)
        await eventually('the end is told', () => bridge.stopReport(spec))
      },
    )
    expect(outputs).toEqual(expected(KINDS))
  })

  test('after the timeout of the deployment', async () => {
    const outputs = await outputsOf(['local'], (script) => ({
      actions: [{ script }],
      remaining_seconds: SECONDS,
      options: { deployment_timeout_seconds: SECONDS },
    }))
    expect(outputs).toEqual(expected(['local']))
  })
})
