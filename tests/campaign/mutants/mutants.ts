import type { FaultKind } from '../plan.ts'
import { INSTANCES, LINKS, SERVICES } from '../topology.ts'

/** A fault planted into one file of the product. */
export interface Mutant {
  id: string
  /** A sentence about the wrong behaviour. */
  breaks: string
  file: string
  /** Each text to find occurs once. */
  edits: readonly (readonly [find: string, replace: string])[]
  /** The test files that own the rule, the most specific one first. */
  owners: readonly string[]
  /** The injected faults that reveal it in a round of the campaign; all kinds by default. */
  kinds?: readonly FaultKind[]
  /** The time for which clients work in a round, if the mutant needs more than the default. */
  workMs?: number
}

const BRIDGE_LINKS = LINKS.filter((link) => link.startsWith('orchestration-instance'))
const DATABASE_LINKS = LINKS.filter((link) => link.endsWith('>postgres'))

/** An instance is away for longer than its leases last. */
const LOST_INSTANCES: FaultKind[] = [
  { family: 'processes', kind: 'kill -9', targets: INSTANCES.slice(1), weight: 1, leastMs: 36_000, mostMs: 38_000 },
]
const STOPPED_INSTANCES: FaultKind[] = [
  { family: 'processes', kind: 'SIGSTOP', targets: INSTANCES.slice(1), weight: 1, leastMs: 36_000, mostMs: 38_000 },
]
const KILLED_INSTANCES: FaultKind[] = [
  { family: 'processes', kind: 'kill -9', targets: INSTANCES, weight: 1, leastMs: 50, mostMs: 500 },
]
const LOST_COMMITS: FaultKind[] = [
  { family: 'servers', kind: 'some connections killed', targets: ['postgres'], weight: 3, leastMs: 0, mostMs: 0 },
  { family: 'links', kind: 'reset', targets: DATABASE_LINKS, weight: 3, leastMs: 0, mostMs: 0 },
]
/** The last batch of a run must be among what is lost: earlier ones are sent again when the bridge finds the gap. */
const LOST_BATCHES: FaultKind[] = [
  {
    family: 'links',
    kind: 'reset',
    targets: DATABASE_LINKS.filter((link) => link.startsWith('executor-bridge')),
    weight: 1,
    leastMs: 0,
    mostMs: 0,
  },
]
/** Only the dispatcher's commits fail: without creates there is nothing to cancel. */
const LOST_CANCELS: FaultKind[] = [
  {
    family: 'links',
    kind: 'reset',
    targets: DATABASE_LINKS.filter((link) => link.startsWith('dispatcher')),
    weight: 1,
    leastMs: 0,
    mostMs: 0,
  },
]
const LOST_ANSWERS: FaultKind[] = [
  { family: 'links', kind: 'reset', targets: BRIDGE_LINKS, weight: 3, leastMs: 0, mostMs: 0 },
  { family: 'links', kind: 'silent, then lost', targets: BRIDGE_LINKS, weight: 2, leastMs: 500, mostMs: 3_000 },
]
const KILLED_SERVICES: FaultKind[] = [
  { family: 'processes', kind: 'kill -9', targets: SERVICES, weight: 1, leastMs: 50, mostMs: 1_000 },
]

const APPLY = 'services/executor-bridge/src/events/apply.ts'
const SCHEDULE = 'packages/domain/src/execution.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'answer-before-commit',
    breaks: 'The dispatcher answers a create although its commit has failed.',
    file: 'services/dispatcher/src/dispatch/starter.ts',
    owners: ['services/dispatcher/test/deployments.test.ts'],
    edits: [
      [
        'const round = await runRound(admission, left)',
        `const promised = new Map(
      left.map(({ command: { command_id: deployment_id } }): [string, Answer] => [
        deployment_id,
        { outcome: 'started', deployment_id, warnings: [] },
      ]),
    )
    const round = await runRound(admission, left).catch((): Round => ({ answers: promised, undecided: [], large: [], changed: 0 }))`,
      ],
    ],
    kinds: LOST_COMMITS,
  },
  {
    id: 'acknowledge-before-commit',
    breaks: 'The bridge acknowledges events of an instance before their commit.',
    file: APPLY,
    owners: ['services/executor-bridge/test/events.test.ts'],
    edits: [
      [
        'if (error instanceof IllegalEvent) await endIllegalRun(bridge, lease, error.message)\n    throw error',
        `if (error instanceof IllegalEvent) await endIllegalRun(bridge, lease, error.message)
    if (error instanceof IllegalEvent || 'status' in error) throw error
    return { nextEvent: batch.first_event + batch.events.length, live: null, messages: false, failures: new Map() }`,
      ],
    ],
    kinds: LOST_BATCHES,
  },
  {
    id: 'epoch-unchecked',
    breaks: 'The bridge accepts events under a lease that has ended.',
    file: 'services/executor-bridge/src/runs/progress.sql.ts',
    owners: ['services/executor-bridge/test/events.test.ts', 'services/executor-bridge/test/runs.test.ts'],
    edits: [
      ['{STILL_HELD} FOR SHARE', "{'true'} FOR SHARE"],
      // The progress of a run has the epoch too.
      ['AND epoch = :epoch FOR UPDATE', 'AND epoch >= :epoch FOR UPDATE'],
    ],
    kinds: STOPPED_INSTANCES,
    workMs: 60_000,
  },
  {
    id: 'repeated-batch',
    breaks: 'The bridge applies a batch of events again that it has applied before.',
    file: APPLY,
    owners: ['services/executor-bridge/test/events.test.ts'],
    edits: [
      ['if (batch.first_event > firstEvent || nextEvent <= firstEvent) {', 'if (batch.first_event > firstEvent) {'],
      ['batch.events.slice(firstEvent - batch.first_event)', 'batch.events.slice(0)'],
    ],
    kinds: LOST_ANSWERS,
  },
  {
    id: 'outbox-row-dropped',
    breaks: 'The relay deletes some messages without sending them.',
    file: 'packages/database/src/outbox.ts',
    owners: ['packages/database/test/outbox.test.ts'],
    edits: [
      ['await publish(rows)', "await publish(rows.filter(({ message_id }) => !message_id.endsWith('7')))"],
      ['keepForWebhooks(tx, rows)', "keepForWebhooks(tx, rows.filter(({ message_id }) => !message_id.endsWith('7')))"],
    ],
  },
  {
    id: 'line-numbered-twice',
    breaks: 'The bridge stores the last line of a batch twice.',
    file: 'services/executor-bridge/src/events/lines.ts',
    owners: ['services/executor-bridge/test/events.test.ts'],
    edits: [
      ['count: lines.length, json', 'count: lines.length + 1, json'],
      ['storableJson(lines)', 'storableJson([...lines, lines.at(-1)])'],
    ],
  },
  {
    id: 'line-lost',
    breaks: 'The instance loses one line in a thousand.',
    file: 'services/orchestration-instance/src/runs/command-runner.ts',
    owners: ['services/orchestration-instance/test/runs.test.ts'],
    edits: [
      [
        "const level = stream === 'stderr' ? 'error' : 'info'",
        "if (Math.random() < 0.001) return\n        const level = stream === 'stderr' ? 'error' : 'info'",
      ],
    ],
  },
  {
    id: 'one-retry-too-many',
    breaks: 'The instance starts a failed command once more than `max_retries` allows.',
    file: 'services/orchestration-instance/src/runs/run.ts',
    owners: ['services/orchestration-instance/test/runs.test.ts'],
    edits: [['attempt >= action.max_retries ||', 'attempt > action.max_retries ||']],
  },
  {
    id: 'attempt-repeated-after-restart',
    breaks: 'An instance that restarts gives an interrupted command the same attempt again.',
    file: 'services/orchestration-instance/src/runs/progress.ts',
    owners: ['services/orchestration-instance/test/faults.test.ts'],
    edits: [
      ['this.nextAttempts.set(keyOf(event), event.attempt + 1)', 'this.nextAttempts.set(keyOf(event), event.attempt)'],
    ],
    kinds: KILLED_INSTANCES,
  },
  {
    id: 'attempt-repeated-after-loss',
    breaks: 'A command whose instance was lost gets the same attempt again on another one.',
    file: 'packages/database/src/steps/steps.sql.ts',
    owners: ['services/dispatcher/test/leases.test.ts'],
    edits: [['THEN s.retry_count + 1 ELSE s.retry_count END', 'THEN s.retry_count ELSE s.retry_count END']],
    kinds: LOST_INSTANCES,
    workMs: 60_000,
  },
  {
    id: 'attempts-lost-at-restart',
    breaks: 'An interrupted command fails although it has attempts left.',
    file: 'services/orchestration-instance/src/runs/resume.ts',
    owners: ['services/orchestration-instance/test/faults.test.ts'],
    edits: [['return attempt < (spec.actions[action]?.max_retries ?? 0)', 'return attempt < 0 && spec !== null']],
    kinds: KILLED_INSTANCES,
  },
  {
    id: 'key-not-kept',
    breaks: 'An `Idempotency-Key` is taken again by each call.',
    file: 'services/gateway/src/deployments/idempotency.sql.ts',
    owners: ['services/gateway/test/idempotency.test.ts'],
    edits: [['WHERE k.$', 'WHERE true OR k.$']],
  },
  {
    id: 'cancel-before-commit',
    breaks: 'The dispatcher answers a cancel although its commit has failed.',
    file: 'services/dispatcher/src/deployments/cancel.ts',
    owners: ['services/dispatcher/test/deployments.test.ts'],
    edits: [
      [
        'return unlessRefused(cancelled)',
        `return unlessRefused(cancelled).catch((error) => {
    // A refusal has details.
    if ('details' in error) throw error
    return { deployment_id }
  })`,
      ],
    ],
    kinds: LOST_CANCELS,
  },
  {
    id: 'cancel-without-effect',
    breaks: 'The cancel of a pending request is answered and changes nothing.',
    file: 'services/dispatcher/src/pending/status.sql.ts',
    owners: ['services/dispatcher/test/pending-cancel.test.ts'],
    edits: [["SET status = 'cancelled' WHERE", 'SET status = status WHERE']],
  },
  {
    id: 'slot-given-twice',
    breaks: 'Two deployments of a round get the same slot.',
    file: 'packages/engine/src/bookings.ts',
    owners: ['packages/engine/test/admit.test.ts'],
    edits: [['best?.free.shift()', 'best?.free[0]']],
  },
  {
    id: 'tenant-limit-passed',
    breaks: 'A tenant runs one deployment more than its limit.',
    file: 'packages/engine/src/blockers.ts',
    owners: ['packages/engine/test/admit.test.ts', 'services/dispatcher/test/fairness.test.ts'],
    edits: [['return count < limit ?', 'return count <= limit ?']],
  },
  {
    id: 'target-not-reserved',
    breaks: 'A later request takes a target for which an earlier one waits.',
    file: 'packages/engine/src/admit.ts',
    owners: ['packages/engine/test/admit.test.ts', 'services/dispatcher/test/target-locks.test.ts'],
    edits: [["if (request.kind === 'start' && reserves(blockers))", "if (request.kind === 'orphan')"]],
  },
  {
    id: 'drained-instance-leased',
    breaks: 'An instance that began to drain since the snapshot still gets a run.',
    file: 'services/dispatcher/src/leases/leases.ts',
    owners: ['services/dispatcher/test/admission.test.ts'],
    edits: [['changed.has(slot.instance_id) || !epochs', '!epochs']],
  },
  {
    id: 'admission-without-lock',
    breaks: 'Two dispatchers decide at the same time.',
    file: 'services/dispatcher/src/dispatch/round.ts',
    owners: ['services/dispatcher/test/dispatch-queue.test.ts'],
    edits: [
      ['lockAdmission.run(tx, { command_ids: idsOf(first) })', 'lockCommands.run(tx, { command_ids: idsOf(first) })'],
    ],
  },
  {
    id: 'batch-too-large',
    breaks: 'A rolling deployment works on one target more than its batch has.',
    file: SCHEDULE,
    owners: ['packages/domain/test/execution.test.ts'],
    edits: [['targetMode.rolling.batch_size\n', 'targetMode.rolling.batch_size + 1\n']],
  },
  {
    id: 'goes-on-after-failure',
    breaks: 'After a failure that stops a deployment its other targets go on.',
    file: SCHEDULE,
    owners: ['packages/domain/test/execution.test.ts'],
    edits: [
      ["if (result === 'failed' && this.#plan.failureStrategy === 'stop_on_first_failure') this.#skipPending()", ''],
    ],
  },
  {
    id: 'rollback-in-order',
    breaks: 'A rollback undoes the first step first.',
    file: SCHEDULE,
    owners: ['packages/domain/test/execution.test.ts'],
    edits: [
      [
        'this.#seek(target, -1, (step) => this.#isToUndo(step))',
        'this.#seek(target, 1, (step) => this.#isToUndo(step))',
      ],
      ['this.#cursors.fill(actionCount - 1)', 'this.#cursors.fill(0)'],
      ['const { actionCount, parallelLimit } = this.#plan', 'const { parallelLimit } = this.#plan'],
    ],
  },
  {
    id: 'rollback-incomplete',
    breaks: 'A rollback leaves completed steps as they are.',
    file: SCHEDULE,
    owners: ['packages/domain/test/execution.test.ts'],
    edits: [["return (state === 'completed' || state === 'failed') && this", "return state === 'failed' && this"]],
  },
  {
    id: 'timeout-ignored',
    breaks: 'A command that runs longer than its timeout is not killed.',
    file: 'services/orchestration-instance/src/runs/command-clock.ts',
    owners: ['services/orchestration-instance/test/runs.test.ts'],
    edits: [['else this.#onTimeout()', 'else if (excused < 0) this.#onTimeout()']],
  },
  {
    id: 'exit-code-ignored',
    breaks: 'A command with an exit code other than 0 counts as completed.',
    file: 'services/orchestration-instance/src/runs/command-runner.ts',
    owners: ['services/orchestration-instance/test/runs.test.ts'],
    edits: [['failure: end.failure && maskedFailure(end.failure, masker)', 'failure: null']],
  },
  {
    id: 'wrong-counts',
    breaks: 'A step that completes is counted twice.',
    file: 'packages/database/src/steps/write-steps.ts',
    owners: ['services/executor-bridge/test/events.test.ts'],
    edits: [
      ["counts.completed += Number(state === 'completed')", "counts.completed += 2 * Number(state === 'completed')"],
    ],
  },
  {
    id: 'stream-resumes-late',
    breaks: 'A stream that continues leaves out the line from which it should.',
    file: 'services/log-stream/src/streams/stream-client.ts',
    owners: ['services/log-stream/test/logs.test.ts'],
    edits: [['this.#line = options.from\n', 'this.#line = options.from === 0 ? 0 : options.from + 1\n']],
    kinds: KILLED_SERVICES,
  },
  {
    id: 'two-ends',
    breaks: 'A stream tells the final state twice.',
    file: 'services/log-stream/src/streams/stream-client.ts',
    owners: ['services/log-stream/test/logs.test.ts'],
    edits: [
      [
        'await this.#write(this.#hub.ending)\n',
        'await this.#write(Buffer.concat([this.#hub.ending, this.#hub.ending]))\n',
      ],
    ],
  },
  {
    id: 'audit-missing',
    breaks: 'A create leaves no audit record if it shares a transaction with another one.',
    file: 'services/dispatcher/src/dispatch/commit.ts',
    owners: ['services/dispatcher/test/starter.test.ts'],
    edits: [['[...newStarts, ...newWaits].map(callRecord)', '[...newStarts, ...newWaits].slice(0, 1).map(callRecord)']],
  },
  {
    id: 'line-of-another-target',
    breaks: 'Each line is stored as one of the first target.',
    file: 'services/executor-bridge/src/events/lines.ts',
    owners: ['services/executor-bridge/test/events.test.ts'],
    edits: [['i: target,', 'i: target === null ? null : 0,']],
  },
  {
    id: 'attempt-not-counted',
    breaks: 'The end of a command sets its number of retries back to 0.',
    file: 'packages/database/src/steps/steps.sql.ts',
    owners: ['services/executor-bridge/test/events.test.ts'],
    edits: [
      [
        'retry_count = greatest(s.retry_count, c.retry_count)',
        'retry_count = CASE WHEN c.status IS NULL THEN c.retry_count ELSE 0 END',
      ],
    ],
  },
  {
    id: 'exit-code-not-stored',
    breaks: 'A step does not get the exit code of its command.',
    file: 'packages/database/src/steps/steps.sql.ts',
    owners: ['services/executor-bridge/test/events.test.ts'],
    edits: [['CASE WHEN c.status IS NULL THEN s.exit_code ELSE c.exit_code END', 's.exit_code']],
  },
  {
    id: 'secret-not-masked',
    breaks: 'Secrets in base64 are not masked.',
    file: 'services/orchestration-instance/src/output/secret-forms.ts',
    owners: ['services/orchestration-instance/test/masking.properties.test.ts'],
    edits: [["add('base64', core)", "add('base64', core.slice(0, 0))"]],
  },
  {
    id: 'tenant-forgotten',
    breaks: 'The gateway takes users of a tenant for users of no tenant.',
    file: 'services/gateway/src/callers/calling-user.sql.ts',
    owners: ['services/gateway/test/tenancy.test.ts'],
    edits: [['u.status, u.tenant_id,', 'u.status, NULL::uuid AS tenant_id,']],
  },
  {
    id: 'freeze-ignored',
    breaks: 'A freeze blocks nothing.',
    file: 'packages/domain/src/freezes.ts',
    owners: ['services/dispatcher/test/freezes.test.ts'],
    edits: [['blocked: about.length > 0 &&', 'blocked: about.length < 0 &&']],
  },
]
