import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type EndedStep, Schedule, type SchedulePlan, type StepRef } from '../src/index.ts'

interface Case {
  plan: SchedulePlan
  fails: Set<string>
  rollbackFails: Set<string>
  /** Chooses the running command that ends next. */
  luck: number[]
}

type Event = {
  what: 'start' | 'completed' | 'failed' | 'undo' | 'undone' | 'undo failed'
  target: number
  action: number
}

const MAX = 4
const steps = Array.from({ length: MAX * MAX }, (_, i) => `${Math.floor(i / MAX)}/${i % MAX}`)

const cases: fc.Arbitrary<Case> = fc
  .record({
    targetCount: fc.integer({ min: 1, max: MAX }),
    actionCount: fc.integer({ min: 1, max: MAX }),
    scripts: fc.array(fc.boolean(), { minLength: MAX, maxLength: MAX }),
    targetMode: fc.oneof(
      fc.constantFrom('sequential' as const, 'parallel' as const),
      fc.integer({ min: 1, max: MAX }).map((batch_size) => ({ rolling: { batch_size } })),
    ),
    failureStrategy: fc.constantFrom('stop_on_first_failure', 'continue_on_failure', 'ignore_failures' as const),
    rollbackStrategy: fc.constantFrom('none', 'failed_target_only', 'all_executed' as const),
    parallelLimit: fc.integer({ min: 1, max: MAX + 1 }),
    fails: fc.subarray(steps),
    manyFail: fc.boolean(),
    rollbackFails: fc.subarray(steps, { maxLength: 2 }),
    luck: fc.array(fc.nat(100), { minLength: 2 * MAX * MAX, maxLength: 2 * MAX * MAX }),
  })
  .map(({ scripts, fails, manyFail, rollbackFails, luck, ...plan }) => ({
    plan: { ...plan, hasRollback: (action: number) => scripts[action] ?? false } as SchedulePlan,
    fails: new Set(manyFail ? fails : fails.slice(0, 1)),
    rollbackFails: new Set(rollbackFails),
    luck,
  }))

const nameOf = ({ target, action }: StepRef) => `${target}/${action}`

/** Runs a schedule to its end, or until `limit` commands have ended. Returns the events in order. */
function drive({ fails, rollbackFails, luck }: Case, schedule: Schedule, limit = Number.POSITIVE_INFINITY): Event[] {
  const events: Event[] = []
  const inFlight: StepRef[] = []
  for (let round = 0; ; round++) {
    const undoing = schedule.phase === 'rolling_back'
    for (const step of undoing ? schedule.nextRollbacks() : schedule.next()) {
      events.push({ what: undoing ? 'undo' : 'start', ...step })
      inFlight.push(step)
    }
    if (schedule.phase === 'ended' || round >= limit) return events
    const [step] = inFlight.splice((luck[round % luck.length] ?? 0) % inFlight.length, 1)
    if (!step) throw new Error('Nothing runs and nothing may start, yet it has not ended')
    if (undoing) {
      const ok = !rollbackFails.has(nameOf(step))
      schedule.rollbackEnded(step, ok)
      events.push({ what: ok ? 'undone' : 'undo failed', ...step })
    } else {
      const result = fails.has(nameOf(step)) ? 'failed' : 'completed'
      schedule.ended(step, result)
      events.push({ what: result, ...step })
    }
  }
}

const executed = (events: Event[]) => events.filter(({ what }) => what === 'completed' || what === 'failed')
const setOf = (events: StepRef[]) => new Set(events.map(nameOf))

/** Calls `check` after each event with the targets that have a running command. */
function widest(events: Event[], start: Event['what'], check: (running: Set<number>) => void): void {
  const running = new Set<number>()
  for (const { what, target } of events) {
    if (what === start) {
      expect(running.has(target)).toBe(false) // steps of one target never overlap
      running.add(target)
    } else running.delete(target)
    check(running)
  }
}

test('every step is started once or skipped, and the actions of a target run in order', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const schedule = new Schedule(one.plan)
      const events = drive(one, schedule)
      const starts = events.filter(({ what }) => what === 'start')
      const skipped = schedule.takeSkipped()
      expect([...starts, ...skipped].map(nameOf).sort()).toEqual(
        steps
          .filter((name) => {
            const [target = 0, action = 0] = name.split('/').map(Number)
            return target < one.plan.targetCount && action < one.plan.actionCount
          })
          .sort(),
      )
      for (let target = 0; target < one.plan.targetCount; target++) {
        const actions = starts.filter((step) => step.target === target).map(({ action }) => action)
        expect(actions).toEqual(actions.map((_, index) => index))
      }
    }),
  )
})

test('the target mode and the parallel limit apply to steps and rollbacks', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { targetMode, targetCount, parallelLimit } = one.plan
      const events = drive(one, new Schedule(one.plan))
      const batch =
        targetMode === 'sequential' ? 1 : targetMode === 'parallel' ? targetCount : targetMode.rolling.batch_size
      const width = Math.min(batch, parallelLimit)
      const isForward = ({ what }: Event) => what === 'start' || what === 'completed' || what === 'failed'
      widest(events.filter(isForward), 'start', (running) => expect(running.size).toBeLessThanOrEqual(width))
      widest(
        events.filter((event) => !isForward(event)),
        'undo',
        (running) => expect(running.size).toBeLessThanOrEqual(width),
      )
      // A batch ends before a command of the next batch starts.
      const lastOf = (target: number) => events.findLastIndex((event) => event.target === target && isForward(event))
      for (const [index, { what, target }] of events.entries()) {
        if (what !== 'start') continue
        const before = Math.floor(target / batch) * batch
        for (let earlier = 0; earlier < before; earlier++) expect(lastOf(earlier)).toBeLessThan(index)
      }
    }),
  )
})

test('failures have the effect of their failure strategy', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { failureStrategy, rollbackStrategy, targetCount, actionCount } = one.plan
      const schedule = new Schedule(one.plan)
      const events = drive(one, schedule)
      const ran = setOf(executed(events))
      const failed = events.filter(({ what }) => what === 'failed')
      if (failureStrategy === 'stop_on_first_failure') {
        const first = events.findIndex(({ what }) => what === 'failed')
        if (first >= 0) expect(events.slice(first).some(({ what }) => what === 'start')).toBe(false)
      } else {
        for (let target = 0; target < targetCount; target++) {
          const firstFailure = Array.from({ length: actionCount }, (_, action) => action).find((action) =>
            one.fails.has(`${target}/${action}`),
          )
          const stops = failureStrategy === 'ignore_failures' || firstFailure === undefined
          const count = stops ? actionCount : firstFailure + 1
          expect([...ran].filter((name) => name.startsWith(`${target}/`))).toHaveLength(count)
        }
      }
      const completed = events.some(({ what }) => what === 'completed')
      const good = completed && (failed.length === 0 || failureStrategy === 'ignore_failures')
      const undoFailed = events.some(({ what }) => what === 'undo failed')
      const bad = rollbackStrategy === 'none' || undoFailed ? 'failed' : 'rolled_back'
      expect(schedule.outcome).toBe(good ? 'success' : bad)
    }),
  )
})

test('the rollback set is the one of the rollback strategy, each step once, in reverse order', () => {
  fc.assert(
    fc.property(cases, (one) => {
      const { rollbackStrategy, hasRollback, targetCount } = one.plan
      const schedule = new Schedule(one.plan)
      const events = drive(one, schedule)
      const undone = events.filter(({ what }) => what === 'undo')
      const failedTargets = new Set(events.filter(({ what }) => what === 'failed').map(({ target }) => target))
      const due = executed(events).filter(
        ({ target, action }) =>
          schedule.outcome !== 'success' &&
          rollbackStrategy !== 'none' &&
          (rollbackStrategy === 'all_executed' || failedTargets.has(target)) &&
          hasRollback(action),
      )
      expect(undone.map(nameOf).sort()).toEqual(due.map(nameOf).sort())
      for (let target = 0; target < targetCount; target++) {
        const actions = undone.filter((step) => step.target === target).map(({ action }) => action)
        expect(actions).toEqual([...actions].sort((a, b) => b - a))
      }
    }),
  )
})

test('a run that resumes after any event ends like a run without an interruption', () => {
  fc.assert(
    fc.property(cases, fc.nat(2 * MAX * MAX), (one, when) => {
      // With stop_on_first_failure the result depends on the order of the ends. Sequential runs are comparable.
      const racing = one.plan.failureStrategy === 'stop_on_first_failure'
      const plan: SchedulePlan = racing ? { ...one.plan, targetMode: 'sequential' } : one.plan
      const whole = new Schedule(plan)
      const wanted = finalStates(drive({ ...one, plan }, whole), whole.takeSkipped())

      const lost = new Schedule(plan)
      const before = finalStates(drive({ ...one, plan }, lost, when), lost.takeSkipped())
      if (lost.phase === 'ended') return
      const phase = lost.phase
      const resumed = new Schedule(
        plan,
        [...before].flatMap(([name, state]) => asEnded(name, state)),
        phase,
      )
      const after = finalStates(drive({ ...one, plan }, resumed), resumed.takeSkipped())
      expect(new Map([...before, ...after])).toEqual(wanted)
      expect(resumed.outcome).toBe(whole.outcome)
    }),
  )
})

/** The state of each step after these events. Running steps are left out, as after the loss of an instance. */
function finalStates(events: Event[], skipped: StepRef[]): Map<string, EndedStep['state']> {
  const states = new Map<string, EndedStep['state']>(skipped.map((step) => [nameOf(step), 'skipped']))
  for (const event of events) {
    if (event.what === 'completed' || event.what === 'failed') states.set(nameOf(event), event.what)
    if (event.what === 'undone') states.set(nameOf(event), 'rolled_back')
    if (event.what === 'undo failed') states.set(nameOf(event), 'rollback_failed')
  }
  return states
}

function asEnded(name: string, state: EndedStep['state']): EndedStep[] {
  const [target = 0, action = 0] = name.split('/').map(Number)
  return [{ target, action, state }]
}
