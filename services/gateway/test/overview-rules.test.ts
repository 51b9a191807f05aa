import { expect, test } from '@jest/globals'
import { explainFailure, type Failure, groupFailures as group } from '../src/overview/failures.ts'
import type { Cause } from '../src/overview/overview.sql.ts'
import { queueReasons } from '../src/overview/queue.ts'
import { slotsOf } from '../src/overview/slots.ts'

const CAUSE: Cause = {
  action_name: 'restart web',
  error_message: 'exit code 1',
  failure_reason: null,
  exit_code: 1,
  completed_at: '2026-03-14T09:00:00.000Z',
  fingerprint: null,
  summary: null,
  stdout_tail: null,
  stderr_tail: null,
}
const failure = (id: string, cause: Partial<Cause> | null, analysis_enabled = true): Failure => ({
  id,
  analysis_enabled,
  cause: cause && { ...CAUSE, ...cause },
})

const groupFailures = (failures: Failure[], most: number) => group(failures.map(explainFailure), most)

test('failures of one fingerprint are one group, the most frequent first, with the summary of the newest', () => {
  const failures = [
    failure('a', { fingerprint: 'disk', summary: 'The disk of web-1 is full' }),
    failure('b', { fingerprint: 'port', summary: 'The port 80 is taken' }),
    failure('c', { fingerprint: 'port', summary: 'The port 81 is taken' }),
    failure('d', null),
  ]
  expect(groupFailures(failures, 20)).toEqual([
    { fingerprint: 'port', summary: 'The port 80 is taken', count: 2, ids: ['b', 'c'] },
    { fingerprint: 'disk', summary: 'The disk of web-1 is full', count: 1, ids: ['a'] },
    { fingerprint: null, summary: 'No failed command explains it', count: 1, ids: ['d'] },
  ])
  expect(groupFailures(failures, 1)).toHaveLength(1)
})

test('a failure without a stored analysis is analysed, unless its deployment asked for none', () => {
  const taken = { stderr_tail: 'Error: listen EADDRINUSE: address already in use :::8080' }
  const [analysed] = groupFailures([failure('a', taken)], 20)
  expect(analysed?.fingerprint).toMatch(/./)
  expect(analysed?.summary).toBe('The port is already in use')
  const [plain] = groupFailures([failure('a', taken, false)], 20)
  expect(plain).toMatchObject({ fingerprint: null, summary: 'exit code 1' })
  const [silent] = groupFailures([failure('a', { error_message: null }, false)], 20)
  expect(silent?.summary).toBe('restart web failed')
})

test('reasons of the queue stand in its order, each with its sources once', () => {
  const waiting = (waiting_for: string, pool_name: string | null, source_name: string, count = 1) => {
    return { waiting_for, pool_name, source_name, count }
  }
  const given = [
    waiting('capacity', null, 'shop'),
    waiting('capacity', 'zone=a', 'shop'),
    waiting('capacity', null, 'shop'),
    waiting('capacity', null, 'search'),
    waiting('approval', null, 'shop', 7),
    waiting('approval', null, 'search', 2),
    waiting('approval', null, 'billing'),
  ]
  expect(queueReasons(given, 2)).toEqual([
    { waiting_for: 'capacity', pool_name: null, count: 3, source_names: ['shop', 'search'], more_sources: 0 },
    { waiting_for: 'capacity', pool_name: 'zone=a', count: 1, source_names: ['shop'], more_sources: 0 },
    { waiting_for: 'approval', pool_name: null, count: 10, source_names: ['shop', 'search'], more_sources: 1 },
  ])
})

test('only instances that are online have free slots, and none has fewer than zero', () => {
  const instance = (id: string, status: string, capacity: number, active: number) => {
    return { id, name: id, status, capacity, active }
  }
  const instances = [
    instance('a', 'online', 4, 1),
    instance('b', 'online', 1, 2),
    instance('c', 'draining', 4, 1),
    instance('d', 'offline', 4, 0),
  ]
  expect(slotsOf(instances, 2)).toEqual({ used: 4, free: 3, online: 2, total: 4, instances: instances.slice(0, 2) })
})
