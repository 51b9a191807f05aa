import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type Call, Ledger } from '../ledger.ts'
import type { Evidence } from '../oracle/evidence.ts'
import type { Marker } from '../oracle/markers.ts'
import { judge } from '../oracle/oracle.ts'
import { SECRET } from '../workload/catalog.ts'

// The evidence of one good deployment. Each test breaks it in one way, and the oracle must find the violation.

let folder: string
let ledger: Ledger
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-oracle-'))
  ledger = new Ledger(path.join(folder, 'ledger'))
})
afterEach(async () => {
  await ledger.close()
  fs.rmSync(folder, { recursive: true })
})

/** A message that no consumer can handle, in base64. */
const GARBAGE = Buffer.from('[]').toString('base64')
const ID = 'deployment-1'
const [T1, T2, T3] = [new Date(1_000), new Date(2_000), new Date(3_000)]

const call = (parts: Partial<Call> = {}): Call => ({
  type: 'call',
  purpose: 'create',
  gateway: 0,
  method: 'POST',
  path: '/deployments',
  requestId: 'request-1',
  key: null,
  sentAt: 0,
  answeredAt: 100,
  status: 201,
  code: null,
  message: null,
  id: ID,
  facts: { shape: 'single' },
  ...parts,
})

const marker = (what: Marker['what'], parts: Partial<Marker> = {}): Marker => ({
  what,
  deployment: ID,
  target: 'target-1',
  step: 'quick',
  attempt: 0,
  pid: 1,
  at: 500,
  folder: '/',
  order: 0,
  ...parts,
})

function goodEvidence(): Evidence {
  ledger.add(call())
  const lines = Array.from({ length: 10 }, (_, seq) => ({
    deployment_id: ID,
    seq,
    target_index: 0,
    action_index: 0,
    stream: 'o',
    text: `target-1 quick 0 ${seq + 1}`,
  }))
  for (const { seq, text } of lines) {
    ledger.add({ type: 'seen', deployment: ID, at: 0, event: 'line', seq, text })
  }
  ledger.add({ type: 'seen', deployment: ID, at: 0, event: 'progress', seq: null, text: '1' })
  ledger.add({ type: 'seen', deployment: ID, at: 0, event: 'state', seq: 10, text: 'success' })
  return {
    ledger,
    markers: [marker('start'), marker('end')],
    queues: { 'planner.commands': 0, 'dead-letters': 1 },
    deadLetters: [GARBAGE],
    garbage: new Set([GARBAGE]),
    watches: [{ deployment: ID, hasEnded: true }],
    capacity: 1,
    patience: 1,
    delivered: [{ id: 'message-1', deployment: ID }],
    tables: {
      deployments: [
        {
          id: ID,
          state: 'success',
          request_id: 'request-1',
          error_message: null,
          pending_id: null,
          created_at: T1,
          started_at: T1,
          completed_at: T3,
          options: null,
          source_deployment_id: null,
          completed_steps: 1,
        },
      ],
      transitions: [
        { deployment_id: ID, number: 0, from_state: null, to_state: 'running', at: T1 },
        { deployment_id: ID, number: 1, from_state: 'running', to_state: 'success', at: T3 },
      ],
      steps: [
        {
          deployment_id: ID,
          target_index: 0,
          action_index: 0,
          target: 'target-1',
          step: 'quick',
          max_retries: 1,
          state: 'completed',
          retry_count: 0,
          exit_code: 0,
          error_message: null,
          failure_reason: null,
          result: 'completed',
          started_at: T1,
          attempt_started_at: T1,
          completed_at: T2,
          result_exit_code: 0,
        },
      ],
      pending: [],
      leases: [
        {
          epoch: '1',
          instance_id: 'one',
          slot: 0,
          deployment_id: ID,
          acquired_at: T1,
          ended_at: T3,
          end_reason: 'deployment_ended',
        },
      ],
      lines,
      wrongChunks: [],
      keys: [],
      outbox: 0,
      webhookEvents: 0,
    },
  }
}

const first = <T>(list: readonly T[]): T => list[0] as T

const resultsJudged = (evidence: Evidence) =>
  judge(evidence).flatMap(({ invariant, sentence }) =>
    invariant === 'I22' && /result/.test(sentence) ? [sentence] : [],
  )

test('good evidence violates nothing', () => {
  expect(judge(goodEvidence())).toEqual([])
})

test('a message that no consumer can handle may be a dead letter twice', () => {
  const evidence = goodEvidence()
  evidence.deadLetters.push(GARBAGE)
  expect(judge(evidence)).toEqual([])
})

test('a command has no result of its own if its instance was lost', () => {
  const evidence = goodEvidence()
  const untold = { state: 'failed', exit_code: null, result: null, result_exit_code: null }
  Object.assign(first(evidence.tables.steps), { ...untold, failure_reason: 'instance_lost' })
  expect(resultsJudged(evidence)).toEqual([])
  Object.assign(first(evidence.tables.steps), { ...untold, failure_reason: null })
  expect(resultsJudged(evidence)).toEqual(['an executed command has one result, which equals its step'])
})

test('a rollback counts its own attempts', () => {
  const evidence = goodEvidence()
  evidence.markers.push(
    marker('start', { attempt: 1 }),
    marker('end', { attempt: 1 }),
    marker('undo'),
    marker('undone'),
  )
  expect(judge(evidence).filter(({ invariant }) => invariant === 'I7')).toEqual([])
})

test.each<[invariant: string, what: string, spoil: (evidence: Evidence) => void]>([
  ['I1', 'an accepted create is lost', ({ tables }) => tables.deployments.splice(0)],
  [
    'I1',
    'one create left two deployments',
    ({ tables }) => tables.deployments.push({ ...first(tables.deployments), id: 'other' }),
  ],
  ['I1', 'a deployment exists without a call', ({ tables }) => (first(tables.deployments).request_id = 'unknown')],
  [
    'I1',
    'two answers to one key differ',
    () => {
      ledger.calls.splice(0)
      ledger.add(call({ key: 'k' }))
      ledger.add(call({ key: 'k', requestId: 'request-2', id: 'other' }))
    },
  ],
  ['I1', 'a refused create left a deployment', () => Object.assign(first(ledger.calls), { status: 400, id: null })],
  [
    'I1',
    'a create that answered "nothing was done" left a deployment',
    () => Object.assign(first(ledger.calls), { status: 503, id: null, message: 'nothing was done, try again' }),
  ],
  ['I2', 'a deployment is stuck', ({ tables }) => (first(tables.deployments).state = 'running')],
  ['I3', 'a history violates the table of states', ({ tables }) => (first(tables.transitions).to_state = 'cancelled')],
  [
    'I4',
    'a request stays pending',
    ({ tables }) =>
      tables.pending.push({
        id: 'p',
        status: 'pending',
        request_id: 'request-2',
        deployment_id: null,
        error_message: null,
      }),
  ],
  [
    'I5',
    'a cancelled request ran',
    ({ tables }) => {
      tables.pending.push({
        id: ID,
        status: 'dispatched',
        request_id: 'request-1',
        deployment_id: ID,
        error_message: null,
      })
      ledger.add(call({ purpose: 'cancel pending', status: 200, id: null, facts: { id: ID } }))
    },
  ],
  ['I6', 'an attempt starts twice', ({ markers }) => markers.push(marker('start'))],
  [
    'I6',
    'a command starts without a record',
    ({ tables }) => Object.assign(first(tables.steps), { started_at: null, attempt_started_at: null }),
  ],
  ['I7', 'attempts overlap', ({ markers }) => markers.push(marker('overlap'))],
  [
    'I7',
    'a command writes after its rollback has started',
    ({ markers }) => markers.splice(1, 0, marker('undo'), marker('undone')),
  ],
  [
    'I7',
    'an earlier attempt writes after a later one',
    ({ markers }) => {
      markers.push(marker('start', { attempt: 1 }), marker('end'))
    },
  ],
  ['I8', 'a completed step has not run to its end', ({ markers }) => markers.splice(1)],
  ['I10', 'a skipped step has run', ({ tables }) => (first(tables.steps).state = 'skipped')],
  [
    'I10',
    'another target begins after a failure',
    ({ tables }) => {
      const options = { failure_strategy: 'stop_on_first_failure', target_mode: 'sequential' }
      first(tables.deployments).options = options
      tables.steps.push({ ...first(tables.steps), target_index: 1, target: 'target-2' })
      first(tables.steps).state = 'failed'
    },
  ],
  [
    'I11',
    'a rollback omits a step',
    ({ tables }) => {
      first(tables.deployments).state = 'rolled_back'
      first(tables.steps).step = 'undone'
    },
  ],
  ['I11', 'a rollback script runs without a failure', ({ markers }) => markers.push(marker('undo'), marker('undone'))],
  [
    'I12',
    'a cancelled deployment runs on',
    () => ledger.add(call({ purpose: 'cancel', status: 200, id: null, facts: { id: ID } })),
  ],
  [
    'I12',
    'a cancel that answered "nothing was done" took effect',
    ({ tables }) => {
      first(tables.deployments).state = 'cancelled'
      const refusal = { status: 503, id: null, message: 'nothing was done, try again' }
      ledger.add(call({ purpose: 'cancel', facts: { id: ID }, ...refusal }))
    },
  ],
  [
    'I13',
    'a command outlives its timeout',
    ({ markers }) => {
      const hanging = { step: 'hanging', deployment: 'x' }
      markers.push(marker('start', hanging), marker('alive', { ...hanging, at: 60_000 }))
    },
  ],
  [
    'I14',
    'a target has more leases than slots',
    ({ tables }) => tables.leases.push({ ...first(tables.leases), epoch: '2', slot: 1, deployment_id: 'other' }),
  ],
  [
    'I15',
    'a slot is leased twice',
    ({ tables }) => tables.leases.push({ ...first(tables.leases), epoch: '2', deployment_id: 'other' }),
  ],
  ['I16', 'a lease has not ended', ({ tables }) => (first(tables.leases).ended_at = null)],
  ['I17', 'a message is unsent', ({ tables }) => (tables.outbox = 1)],
  [
    'I17',
    'the end of a deployment is delivered twice',
    ({ delivered }) => delivered.push({ id: 'message-2', deployment: ID }),
  ],
  ['I17', 'the end of a deployment is not delivered', ({ delivered }) => delivered.splice(0)],
  ['I18', 'a queue still has a message', ({ queues }) => (queues['planner.commands'] = 1)],
  [
    'I18',
    'an unexpected dead letter exists',
    ({ deadLetters }) => deadLetters.push(Buffer.from('{}').toString('base64')),
  ],
  ['I19', 'a line is lost', ({ tables }) => tables.lines.pop()],
  ['I19', 'a line is stored twice', ({ tables }) => tables.lines.push(first(tables.lines))],
  ['I19', 'a line has another text', ({ tables }) => (first(tables.lines).text = 'target-1 quick 0 2')],
  ['I20', 'a stream misses a line', () => ledger.seen.shift()],
  ['I20', 'a stream has no end', ({ watches }) => (first(watches).hasEnded = false)],
  [
    'I20',
    'a stream event follows the final state',
    () => ledger.add({ type: 'seen', deployment: ID, at: 0, event: 'progress', seq: null, text: '1' }),
  ],
  [
    'I20',
    'progress decreases',
    () => ledger.seen.splice(-1, 0, { type: 'seen', deployment: ID, at: 0, event: 'progress', seq: null, text: '0.5' }),
  ],
  ['I22', 'a step is counted twice', ({ tables }) => (first(tables.deployments).completed_steps = 2)],
  [
    'I23',
    'a create in a freeze starts',
    () => ledger.add(call({ purpose: 'frozen create', id: 'other', requestId: 'request-2' })),
  ],
  [
    'I27',
    'a user of another tenant reads a deployment',
    () => ledger.add(call({ purpose: 'foreign read', method: 'GET', status: 200 })),
  ],
  ['I26', 'a line shows a secret', ({ tables }) => (first(tables.lines).text += ` ${SECRET}`)],
  [
    'I26',
    'a stream shows a secret in base64',
    () => (first(ledger.seen).text += Buffer.from(`${SECRET}`).toString('base64')),
  ],
  [
    'I22',
    'a deployment fails without a cause',
    ({ tables }) => {
      first(tables.deployments).state = 'failed'
      Object.assign(tables.transitions[1] as object, { to_state: 'failed' })
    },
  ],
  ['I28', 'an answer is not documented', () => ledger.add(call({ status: 500, code: 'INTERNAL_ERROR', id: null }))],
  ['I28', 'an answer comes too late', () => ledger.add(call({ answeredAt: 15_000, status: null, id: null }))],
])('%s: %s', (invariant, _what, spoil) => {
  const evidence = goodEvidence()
  spoil(evidence)
  expect(judge(evidence).map((violation) => violation.invariant)).toContain(invariant)
})
