import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunSpec, RunTarget } from '@slipway/contracts'
import { type Sshd, startSshd } from '@slipway/testing'
import { AgentHost } from './support/agent-host.ts'
import { FakeBridge } from './support/fake-bridge.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

const bridge = new FakeBridge()
const instance = new TestInstance(bridge)
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
  'without a newline': {
    script: `trap 'printf bye; exit 3' TERM; echo up; while :; do sleep 0.1; done`,
    output: ['up', 'bye'],
  },
  'in a child that outlives the script': {
    script: `trap 'exit 3' TERM; (trap 'sleep 0.5; echo child; exit' TERM; echo up; while :; do sleep 0.1; done) & wait`,
    output: ['up', 'child'],
  },
  'in large amounts': {
    script: `trap 'seq 1 5000; echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done`,
    output: ['up', ...Array.from({ length: 5_000 }, (_, n) => String(n + 1)), 'bye'],
  },
}
const IN_ANOTHER_SESSION: Record<string, Case> = {
  'in another session': {
    script: `trap 'exit 3' TERM; (trap '' TERM; exec setsid sh -c 'echo up; sleep 1; echo child') & wait`,
    output: ['up', 'child'],
  },
}
/** Over ssh the shell of the connection keeps the streams open, so the end of the last writer cannot be detected. */
const CASES_OF: Record<Kind, Record<string, Case>> = {
  local: { ...CASES, ...IN_ANOTHER_SESSION },
  agent: { ...CASES, ...IN_ANOTHER_SESSION },
  ssh: CASES,
}

describe.each(KINDS)('a cancelled command on a target of the kind %s has all its output in the log', (kind) => {
  test.each(Object.entries(CASES_OF[kind]))('that it writes %s', async (_how, { script, output }) => {
    const spec: RunSpec = specOf({ targets: [target(kind)], actions: [{ script }] })
    await bridge.startRun(spec)
    await eventually('the command runs', () => bridge.output(spec).includes('up'))
    bridge.stop(spec)
    await eventually('the end is told', () => bridge.stopReport(spec))
    expect(bridge.output(spec)).toEqual(output)
  })
})
