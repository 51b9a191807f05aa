import { describe, expect, test } from '@jest/globals'
import { type EndedStep, Schedule, type SchedulePlan, type StepRef } from '../src/index.ts'

const plan = (change: Partial<SchedulePlan> = {}): SchedulePlan => ({
  targetCount: 3,
  actionCount: 2,
  hasRollback: () => true,
  targetMode: 'sequential',
  failureStrategy: 'stop_on_first_failure',
  rollbackStrategy: 'none',
  parallelLimit: 10,
  ...change,
})

const names = (steps: StepRef[]) => steps.map(({ target, action }) => `${target}/${action}`)
const step = (name: string): StepRef => {
  const [target = 0, action = 0] = name.split('/').map(Number)
  return { target, action }
}

/** Runs the steps one by one in the order of the schedule until none is left. `fails` names the failing steps. */
function run(schedule: Schedule, fails: string[] = []): string[] {
  const order: string[] = []
  const started = schedule.next()
  for (let next = started.shift(); next; next = started.shift()) {
    const [name = ''] = names([next])
    order.push(name)
    schedule.ended(next, fails.includes(name) ? 'failed' : 'completed')
    started.push(...schedule.next())
  }
  return order
}

function rollBack(schedule: Schedule, fails: string[] = []): string[] {
  const order: string[] = []
  const started = schedule.nextRollbacks()
  for (let next = started.shift(); next; next = started.shift()) {
    const [name = ''] = names([next])
    order.push(name)
    schedule.rollbackEnded(next, !fails.includes(name))
    started.push(...schedule.nextRollbacks())
  }
  return order
}

describe('target modes', () => {
  test('sequential works on one target after another', () => {
    const schedule = new Schedule(plan())
    expect(run(schedule)).toEqual(['0/0', '0/1', '1/0', '1/1', '2/0', '2/1'])
    expect(schedule.phase).toBe('ended')
    expect(schedule.outcome).toBe('success')
  })

  test('the upcoming targets belong to the same batch, and are none after a stop', () => {
    const upcoming = (change: Partial<SchedulePlan>) => {
      const schedule = new Schedule(plan({ targetCount: 7, actionCount: 1, ...change }))
      const seen = [schedule.upcoming(2)]
      for (let steps = schedule.next(); steps.length > 0; steps = schedule.next()) {
        seen.push(schedule.upcoming(2))
        for (const each of steps) schedule.ended(each, each.target === 4 ? 'failed' : 'completed')
      }
      return seen
    }
    expect(upcoming({ targetMode: 'sequential' })).toEqual([[], [], [], [], [], []])
    expect(upcoming({ targetMode: 'parallel', parallelLimit: 3 })).toEqual([[], [3, 4], [6]])
    expect(upcoming({ targetMode: { rolling: { batch_size: 3 } }, parallelLimit: 2 })).toEqual([[], [2], [], [5]])
    const stopped = new Schedule(plan({ targetCount: 7, targetMode: 'parallel', parallelLimit: 2 }))
    stopped.next()
    expect(stopped.upcoming(9)).toEqual([2, 3, 4, 5, 6])
    stopped.stop('out of time')
    expect(stopped.upcoming(9)).toEqual([])
  })

  test('parallel starts all targets at once', () => {
    expect(names(new Schedule(plan({ targetMode: 'parallel' })).next())).toEqual(['0/0', '1/0', '2/0'])
  })

  test('parallel respects the limit and continues a target before it starts another', () => {
    const schedule = new Schedule(plan({ targetMode: 'parallel', parallelLimit: 2 }))
    expect(names(schedule.next())).toEqual(['0/0', '1/0'])
    expect(schedule.next()).toEqual([])
    schedule.ended(step('1/0'), 'completed')
    expect(names(schedule.next())).toEqual(['1/1'])
    schedule.ended(step('1/1'), 'completed')
    expect(names(schedule.next())).toEqual(['2/0'])
  })

  test('a rolling batch ends before the next batch begins', () => {
    const schedule = new Schedule(plan({ targetMode: { rolling: { batch_size: 2 } }, actionCount: 1 }))
    expect(names(schedule.next())).toEqual(['0/0', '1/0'])
    schedule.ended(step('0/0'), 'completed')
    expect(schedule.next()).toEqual([])
    schedule.ended(step('1/0'), 'completed')
    expect(names(schedule.next())).toEqual(['2/0'])
  })
})

describe('failure strategies', () => {
  test('stop_on_first_failure lets running commands finish and starts nothing new', () => {
    const schedule = new Schedule(plan({ targetMode: 'parallel', parallelLimit: 2 }))
    schedule.next()
    schedule.ended(step('0/0'), 'failed')
    expect(schedule.stopping).toBe(true)
    expect(schedule.next()).toEqual([])
    expect(names(schedule.takeSkipped()).sort()).toEqual(['0/1', '1/1', '2/0', '2/1'])
    expect(schedule.phase).toBe('running')
    schedule.ended(step('1/0'), 'completed')
    expect(schedule.next()).toEqual([])
    expect(schedule.outcome).toBe('failed')
  })

  test('continue_on_failure skips the rest of that target only', () => {
    const schedule = new Schedule(plan({ failureStrategy: 'continue_on_failure' }))
    expect(run(schedule, ['1/0'])).toEqual(['0/0', '0/1', '1/0', '2/0', '2/1'])
    expect(names(schedule.takeSkipped())).toEqual(['1/1'])
    expect(schedule.takeSkipped()).toEqual([])
    expect(schedule.outcome).toBe('failed')
  })

  test('ignore_failures continues with the same target and ends in success', () => {
    const schedule = new Schedule(plan({ failureStrategy: 'ignore_failures' }))
    expect(run(schedule, ['1/0'])).toHaveLength(6)
    expect(schedule.takeSkipped()).toEqual([])
    expect(schedule.outcome).toBe('success')
  })

  test('a deployment without a completed step is not successful', () => {
    const schedule = new Schedule(plan({ failureStrategy: 'ignore_failures', targetCount: 1 }))
    run(schedule, ['0/0', '0/1'])
    expect(schedule.outcome).toBe('failed')
    expect(new Schedule(plan({ targetCount: 0 })).outcome).toBe('failed')
  })
})

describe('rollback', () => {
  test('failed_target_only rolls back the failed target, the failed action first', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'failed_target_only' }))
    run(schedule, ['1/1'])
    expect(schedule.phase).toBe('rolling_back')
    expect(schedule.outcome).toBeNull()
    expect(rollBack(schedule)).toEqual(['1/1', '1/0'])
    expect(schedule.outcome).toBe('rolled_back')
  })

  test('all_executed rolls back every target with an executed step, the last step first', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed' }))
    run(schedule, ['1/0'])
    expect(rollBack(schedule)).toEqual(['1/0', '0/1', '0/0'])
  })

  test('rolls back as many targets at once as the mode allows', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed', targetMode: 'parallel' }))
    schedule.next()
    for (const target of [0, 1, 2]) schedule.ended({ target, action: 0 }, target === 1 ? 'failed' : 'completed')
    expect(names(schedule.nextRollbacks())).toEqual(['2/0', '1/0', '0/0'])
  })

  test('skips actions without a rollback script', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed', hasRollback: (action) => action === 0 }))
    run(schedule, ['1/1'])
    expect(rollBack(schedule)).toEqual(['1/0', '0/0'])
    expect(schedule.outcome).toBe('rolled_back')
  })

  test('passes through the state rolling_back even without a rollback script', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed', hasRollback: () => false }))
    run(schedule, ['0/0'])
    expect(schedule.phase).toBe('rolling_back')
    expect(schedule.nextRollbacks()).toEqual([])
    expect(schedule.phase).toBe('ended')
    expect(schedule.outcome).toBe('rolled_back')
  })

  test('fails the deployment if a rollback script fails, but runs the other scripts', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed' }))
    run(schedule, ['1/0'])
    expect(rollBack(schedule, ['1/0'])).toEqual(['1/0', '0/1', '0/0'])
    expect(schedule.outcome).toBe('failed')
  })
})

describe('stop', () => {
  test('skips the remaining steps and fails the deployment, even if failures are ignored', () => {
    const schedule = new Schedule(plan({ failureStrategy: 'ignore_failures' }))
    schedule.next()
    schedule.stop('took longer than 60 s')
    expect(schedule.stopReason).toBe('took longer than 60 s')
    expect(schedule.takeSkipped()).toHaveLength(5)
    expect(schedule.phase).toBe('running')
    schedule.ended(step('0/0'), 'completed')
    expect(schedule.outcome).toBe('failed')
  })

  test('is followed by the rollback', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed' }))
    schedule.next()
    schedule.stop('too long')
    schedule.ended(step('0/0'), 'failed')
    expect(rollBack(schedule)).toEqual(['0/0'])
    expect(schedule.outcome).toBe('rolled_back')
  })

  test('does not affect a rollback that has begun', () => {
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed' }))
    run(schedule, ['0/1'])
    schedule.stop('too long')
    expect(rollBack(schedule)).toEqual(['0/1', '0/0'])
  })
})

describe('resuming a lost run', () => {
  const at = (name: string, state: EndedStep['state']): EndedStep => ({ ...step(name), state })

  test('continues after the ended steps and starts lost steps again', () => {
    expect(run(new Schedule(plan(), [at('0/0', 'completed')]))).toEqual(['0/1', '1/0', '1/1', '2/0', '2/1'])
  })

  test('skips the steps that a failure had not yet skipped', () => {
    const schedule = new Schedule(plan({ targetMode: 'parallel' }), [at('0/0', 'failed'), at('1/0', 'completed')])
    expect(schedule.next()).toEqual([])
    expect(names(schedule.takeSkipped())).toEqual(['0/1', '1/1', '2/0', '2/1'])
    expect(schedule.outcome).toBe('failed')
  })

  test('treats a skipped step without a failure as a stop of the run', () => {
    const ended = [at('0/0', 'completed'), at('0/1', 'completed'), at('1/0', 'skipped')]
    const schedule = new Schedule(plan({ failureStrategy: 'continue_on_failure' }), ended)
    expect(schedule.next()).toEqual([])
    expect(schedule.outcome).toBe('failed')
  })

  test('continues a rollback, including its failures', () => {
    const ended = [at('0/0', 'completed'), at('0/1', 'completed'), at('1/0', 'rollback_failed'), at('1/1', 'skipped')]
    const schedule = new Schedule(plan({ rollbackStrategy: 'all_executed', targetCount: 2 }), ended, 'rolling_back')
    expect(schedule.takeSkipped()).toEqual([])
    expect(rollBack(schedule)).toEqual(['0/1', '0/0'])
    expect(schedule.outcome).toBe('failed')
  })
})

test('impossible reports are refused', () => {
  const schedule = new Schedule(plan())
  expect(() => schedule.ended(step('0/0'), 'completed')).toThrow('pending')
  schedule.next()
  schedule.ended(step('0/0'), 'completed')
  expect(() => schedule.ended(step('0/0'), 'completed')).toThrow('completed')
  expect(() => schedule.ended(step('0/2'), 'completed')).toThrow('not in the plan')
  expect(() => new Schedule(plan({ targetMode: { rolling: { batch_size: 0 } } }))).toThrow('Batch size')
})
