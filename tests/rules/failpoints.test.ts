import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { COMMANDS, EVENTS, type RunEvent } from '@slipway/contracts'
import { loadStatements, repositoryFiles, repositoryRoot } from '@slipway/testing'
import { CELLS } from '../campaign/crash-points/cells.ts'

/** The boundaries that all code passes. Code of one subject has no failpoints. */
const BOUNDARIES = [
  'packages/broker/src/handling.ts',
  'packages/broker/src/publisher.ts',
  'packages/broker/src/requester.ts',
  'packages/database/src/commit-points.ts',
  'packages/database/src/database.ts',
  'packages/runtime/src/failpoint.ts',
  'packages/runtime/src/failpoints.ts',
  'packages/runtime/src/index.ts',
  'services/orchestration-instance/src/journal/journal.ts',
]
const JOURNALS = ['run-journal', 'ended-journal', 'restored-journal']

const messages = new Set([...Object.keys(COMMANDS), ...Object.keys(EVENTS)])
const RUN_EVENTS: Record<RunEvent['type'], true> = {
  log: true,
  step_started: true,
  step_ended: true,
  steps_skipped: true,
  rolling_back: true,
  rollback_started: true,
  rollback_ended: true,
  host_key: true,
  target_seen: true,
  finished: true,
}

let statements: Awaited<ReturnType<typeof loadStatements>>
beforeAll(async () => {
  statements = await loadStatements()
})

/** Whether the service has such a statement, or a package has it. */
const isStatement = (service: string, name: string) =>
  [...statements.keys()].some((known) => {
    const [first = '', ...rest] = known.split('.')
    return rest.join('.') === name && (first === service || fs.existsSync(path.join(repositoryRoot, 'packages', first)))
  })

test('each failpoint names a message, an event of the journal or a statement that exists', () => {
  const unknown = CELLS.filter(({ service, path: name, moment }) => {
    if (service === 'orchestration-instance') return !(name in RUN_EVENTS) && !JOURNALS.includes(name)
    return !messages.has(name) && !(moment.endsWith('-commit') && isStatement(service, name))
  })
  expect(unknown.map(({ name }) => name)).toEqual([])
})

test('only boundaries that all code passes have failpoints', () => {
  const having = repositoryFiles('packages/*/src/*.ts', 'services/*/src/*.ts').filter(
    (file) => !file.endsWith('suite.ts') && /failpoint/i.test(fs.readFileSync(path.join(repositoryRoot, file), 'utf8')),
  )
  expect(having.sort()).toEqual(BOUNDARIES)
})

test('there are 120 failpoints or more, and no two have the same name', () => {
  expect(CELLS.length).toBeGreaterThanOrEqual(120)
  expect(new Set(CELLS.map(({ name }) => name)).size).toBe(CELLS.length)
})
