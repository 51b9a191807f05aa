import { describe, expect, test } from '@jest/globals'
import type { RunFailureReason } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { OTHER_VERSIONS, whileCommitsFail } from '@slipway/testing'
import { cancelDeployment } from '../src/deployments/cancel.ts'
import { confirmEnds } from '../src/deployments/close-steps.ts'
import { beginRollback, finishDeployment } from '../src/deployments/finish.ts'
import { applySettings } from '../src/pending/settings.ts'
import { testDatabase } from './database.ts'
import {
  ADMIN,
  addInstance,
  deployment,
  liveLease,
  outbox,
  queue,
  setStep,
  startCommand,
  startDeployment,
  states,
  stepStates,
} from './fixtures.ts'

const { database, asDispatcher, catalog } = await testDatabase()

const received = { request_id: 'request-1' }
/** The identity of a command message that was not handled before. */
const first = () => ({ command_id: uuidv7(), request_id: 'request-1' })

async function started(options: Parameters<typeof startCommand>[1] = {}): Promise<{ id: string; epoch: number }> {
  const command = startCommand(catalog, options)
  const outcome = await startDeployment(database, command, received)
  if (outcome?.outcome !== 'started') throw new Error(`not started: ${JSON.stringify(outcome)}`)
  const lease = await liveLease(database, command.command_id)
  if (!lease) throw new Error('no lease')
  return { id: command.command_id, epoch: lease.epoch }
}

const codeOf = (error: unknown) => (error instanceof Problem ? error.code : `not a problem: ${String(error)}`)

const stoppedAt = async (epoch: number) =>
  (await database.query<{ stopped_at: Date | null }>('SELECT stopped_at FROM leases WHERE epoch = $1', [epoch])).rows[0]
    ?.stopped_at

const endsOf = async (id: string) =>
  (
    await database.query<{ end_confirmed: boolean | null; error_message: string | null }>(
      `SELECT end_confirmed, error_message FROM steps WHERE deployment_id = $1 ORDER BY target_index, action_index`,
      [id],
    )
  ).rows.map(({ end_confirmed, error_message }) => [end_confirmed, error_message])

describe('start', () => {
  test('writes the deployment with its plan, its steps, its lease and its messages', async () => {
    await addInstance(database, 1)
    const { id } = await started({ deployment_timeout_seconds: 60 })

    const row = await deployment(database, id)
    expect(row).toMatchObject({ state: 'running', total_steps: 6, request_id: 'request-1', source_deployment_id: null })
    expect(row.plan_head).not.toHaveProperty('actions')
    expect(row.plan_head).not.toHaveProperty('targets')
    expect(row.plan_head).toMatchObject({ sealed_under: id, override_variables: { release: 'r1' } })
    expect(await states(database, id)).toEqual(['running'])
    expect(await stepStates(database, id)).toEqual(Array(6).fill('pending'))
    expect(await outbox(database, id)).toEqual(['lease.changed', 'deployment.created'])
    const { rows } = await database.query(
      `SELECT action_index, action_name, variables FROM deployment_actions WHERE deployment_id = $1 ORDER BY 1`,
      [id],
    )
    expect(rows[2]).toEqual({ action_index: 2, action_name: 'step 2', variables: { colour: 'blue' } })
    const targets = await database.query(
      'SELECT target_id FROM deployment_targets WHERE deployment_id = $1 ORDER BY target_index',
      [id],
    )
    expect(targets.rows.map(({ target_id }) => target_id)).toEqual(catalog.target_ids)
  })

  test('a start that is delivered several times, also simultaneously, has one effect and one answer', async () => {
    await addInstance(database, 5)
    const warnings = ['careful']
    const command = { ...startCommand(catalog), warnings }
    const answers = await Promise.all([1, 2, 3].map(() => startDeployment(database, command, received)))
    answers.push(await startDeployment(database, command, received))
    expect(answers).toEqual(Array(4).fill({ outcome: 'started', deployment_id: command.command_id, warnings }))
    const { rows } = await database.query('SELECT warnings FROM leases l JOIN deployments d ON d.id = l.deployment_id')
    expect(rows).toEqual([{ warnings }])

    await database.query('UPDATE instances SET draining = true')
    const unchanged_target_ids = catalog.target_ids.slice(0, 1)
    const start = startCommand(catalog)
    const queued = { ...start, warnings, selection: { ...start.selection, unchanged_target_ids } }
    const [one, two] = await Promise.all([1, 2].map(() => startDeployment(database, queued, received)))
    expect(one).toMatchObject({
      outcome: 'queued',
      pending_request_id: queued.command_id,
      warnings,
      unchanged_target_ids,
    })
    expect(two).toEqual(one)
  })

  test('a start whose commit fails is not answered, and takes effect when it is repeated', async () => {
    await addInstance(database, 1)
    const command = startCommand(catalog)
    const start = () => startDeployment(database, command, received)
    await expect(whileCommitsFail(database, 'deployments', start)).rejects.toMatchObject({ severity: 'ERROR' })
    expect(await states(database, command.command_id)).toEqual([])
    expect(await start()).toMatchObject({ outcome: 'started' })
  })

  test('a start has no effect after its deadline', async () => {
    await addInstance(database, 1)
    const command = startCommand(catalog)
    const deadline = new Date(Date.now() - 1000).toISOString()
    expect(await startDeployment(database, command, { ...received, deadline })).toBeNull()
    const { rows } = await database.query('SELECT FROM deployments UNION ALL SELECT FROM pending_requests')
    expect(rows).toHaveLength(0)
  })

  test('20 simultaneous starts fill the capacity of all instances, and the other ones are queued', async () => {
    await addInstance(database, 3)
    await addInstance(database, 4)
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => startDeployment(database, startCommand(catalog), received)),
    )
    const count = (outcome: string) => outcomes.filter((each) => each?.outcome === outcome).length
    expect({ started: count('started'), queued: count('queued') }).toEqual({ started: 7, queued: 13 })
    const { rows } = await database.query<{ live: number; capacity: number }>(
      `SELECT i.capacity, count(*) AS live FROM leases l JOIN instances i ON i.id = l.instance_id
        WHERE l.ended_at IS NULL GROUP BY i.id ORDER BY i.capacity`,
    )
    expect(rows).toEqual([
      { capacity: 3, live: 3 },
      { capacity: 4, live: 4 },
    ])
  })

  test('goes to the least loaded instance, and never to a lost, draining, foreign-version or retired one', async () => {
    const large = await addInstance(database, 4)
    const small = await addInstance(database, 2)
    const other = await addInstance(database, 50, OTHER_VERSIONS.minor)
    const lost = await addInstance(database, 50)
    const draining = await addInstance(database, 50)
    const shrunk = await addInstance(database, 50)
    await database.query(`UPDATE instances SET last_heartbeat_at = now() - interval '31 seconds' WHERE id = $1`, [lost])
    await database.query('UPDATE instances SET draining = true WHERE id = $1', [draining])
    await database.query('UPDATE instance_slots SET retired = true WHERE instance_id = $1', [shrunk])
    for (let n = 0; n < 3; n += 1) await started()
    const { rows } = await database.query<{ instance_id: string; n: number }>(
      'SELECT instance_id, count(*) AS n FROM leases GROUP BY 1 ORDER BY 2',
    )
    expect(rows).toEqual([
      { instance_id: small, n: 1 },
      { instance_id: large, n: 2 },
    ])
    expect(rows.map(({ instance_id }) => instance_id)).not.toContain(other)
  })

  test('is refused in a freeze, unless a caller with the permission overrides the freeze', async () => {
    await addInstance(database, 5)
    const freezeId = uuidv7()
    await database.query(
      `INSERT INTO freezes (id, name, start_time, end_time, tenant_id, updated_at)
       VALUES ($1, 'year end', now() - interval '1 hour', now() + interval '1 hour', $2, now())`,
      [freezeId, catalog.tenant_id],
    )
    const user = { ...ADMIN, may_override_freezes: false, ip: '127.0.0.1' }
    const override = { freeze_override: { reason: 'hot fix' }, tenant: true }
    const start = (options: Parameters<typeof startCommand>[1]) =>
      startDeployment(database, startCommand(catalog, options), received)

    const refusal = (await start({ tenant: true }).catch((error: unknown) => error)) as Problem
    expect(codeOf(refusal)).toBe('DEPLOYMENT_FROZEN')
    expect(refusal.details).toMatchObject({ active_freezes: [{ id: freezeId, name: 'year end' }], can_override: true })
    await expect(start({ ...override, caller: user })).rejects.toMatchObject({ code: 'DEPLOYMENT_FROZEN' })
    expect(await start(override)).toMatchObject({ outcome: 'started' })
    expect(await start({})).toMatchObject({ outcome: 'started' })
  })
})

describe('finish', () => {
  test('ends the deployment, its lease and the steps that never ran, and frees the slot', async () => {
    const instance = await addInstance(database, 1)
    const { id, epoch } = await started()
    await setStep(database, id, [0, 0], 'completed')
    expect(
      await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'failed', error_message: 'it broke' }),
    ).toBe('failed')

    expect(await deployment(database, id)).toMatchObject({ state: 'failed', error_message: 'it broke' })
    expect(await states(database, id)).toEqual(['running', 'failed'])
    expect(await liveLease(database, id)).toBeNull()
    expect(await stepStates(database, id)).toEqual(['completed', ...Array(5).fill('skipped')])
    const { rows } = await database.query(`SELECT body FROM outbox WHERE type = 'slot.freed'`)
    expect(rows).toEqual([{ body: { instance_id: instance } }])
  })

  test('a late or repeated message changes nothing', async () => {
    await addInstance(database, 1)
    const { id, epoch } = await started()
    const finished = { deployment_id: id, epoch, outcome: 'success', error_message: null } as const
    expect(await finishDeployment(asDispatcher, { ...finished, epoch: epoch + 1 })).toBeNull()
    expect(await finishDeployment(asDispatcher, finished)).toBe('success')
    expect(await finishDeployment(asDispatcher, { ...finished, outcome: 'failed' })).toBeNull()
    expect(await beginRollback(asDispatcher, { deployment_id: id, epoch })).toBe(false)
    expect(await states(database, id)).toEqual(['running', 'success'])
  })

  test('records the state rolling_back also if no message announced the rollback', async () => {
    await addInstance(database, 3)
    const inOrder = await started()
    expect(await beginRollback(asDispatcher, { deployment_id: inOrder.id, epoch: inOrder.epoch })).toBe(true)
    await finishDeployment(asDispatcher, {
      deployment_id: inOrder.id,
      epoch: inOrder.epoch,
      outcome: 'rolled_back',
      error_message: 'it broke',
    })
    expect(await states(database, inOrder.id)).toEqual(['running', 'rolling_back', 'rolled_back'])
    expect((await deployment(database, inOrder.id)).error_message).toBe('it broke')

    const early = await started()
    await finishDeployment(asDispatcher, {
      deployment_id: early.id,
      epoch: early.epoch,
      outcome: 'rolled_back',
      error_message: null,
    })
    expect(await states(database, early.id)).toEqual(['running', 'rolling_back', 'rolled_back'])

    const failed = await started()
    await setStep(database, failed.id, [0, 0], 'rollback_failed')
    await finishDeployment(asDispatcher, {
      deployment_id: failed.id,
      epoch: failed.epoch,
      outcome: 'failed',
      error_message: null,
    })
    expect(await states(database, failed.id)).toEqual(['running', 'rolling_back', 'failed'])
  })

  test('stores the first failed step as the error if the instance reports no error', async () => {
    await addInstance(database, 1)
    const { id, epoch } = await started()
    await database.query(
      `UPDATE steps SET state = 'failed', ever_failed = true, error_message = 'exit code 3', completed_at = now()
        WHERE deployment_id = $1 AND target_index = 1 AND action_index = 2`,
      [id],
    )
    await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'failed', error_message: null })
    expect((await deployment(database, id)).error_message).toBe(
      `step 2 on target-${catalog.target_ids[1]} failed: exit code 3`,
    )
  })

  test('takes over the setting for analyses that applies when the deployment starts', async () => {
    await addInstance(database, 2)
    const enabled = async (id: string) =>
      (await database.query('SELECT analysis_enabled FROM deployments WHERE id = $1', [id])).rows[0]
    const before = await started()
    await applySettings(asDispatcher, { ...queue, analysis_enabled: false })
    const after = await started()
    await applySettings(asDispatcher, queue)
    expect(await enabled(before.id)).toEqual({ analysis_enabled: true })
    expect(await enabled(after.id)).toEqual({ analysis_enabled: false })
  })

  describe('the error message after failures', () => {
    /** Ends a deployment with failures, each by target and action; with a fingerprint, the failure has an analysis. */
    async function end(
      told: string | null,
      failures: [number, number, string, string | null][],
      reason: RunFailureReason = 'command_failed',
    ): Promise<string | null> {
      await addInstance(database, 1)
      const { id, epoch } = await started()
      for (const [target, action, error, fingerprint] of failures) {
        await database.query(
          `UPDATE steps SET state = 'failed', ever_failed = true, error_message = $4, completed_at = now()
            WHERE deployment_id = $1 AND target_index = $2 AND action_index = $3`,
          [id, target, action, error],
        )
        const analysis = fingerprint && JSON.stringify({ fingerprint, summary: `Summary of ${fingerprint}` })
        await database.query(
          `INSERT INTO command_results (deployment_id, target_index, action_index, status, stdout_tail, stderr_tail,
             error_message, analysis, started_at, completed_at) VALUES ($1, $2, $3, 'failed', '', '', $4, $5, now(), now())`,
          [id, target, action, error, analysis],
        )
      }
      await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'failed', reason, error_message: told })
      return (await deployment(database, id)).error_message
    }
    const told = 'Action "step 0" failed on target "a": exit code 3'

    test('is one sentence with the count of the most frequent fingerprint', async () => {
      const kinds: [number, number, string, string | null][] = [
        [0, 0, 'exit code 3', 'rare'],
        [0, 1, 'exit code 1', 'disk-full'],
        [1, 1, 'exit code 1', 'disk-full'],
      ]
      expect(await end(told, kinds)).toBe(
        `2 of 3 failures: Summary of disk-full; the first was step 1 on target-${catalog.target_ids[0]}`,
      )
    })

    test('counts equal errors if the failures have no analysis', async () => {
      const sentence = await end(null, [
        [0, 0, 'exit code 3', null],
        [1, 0, 'exit code 3', null],
      ])
      expect(sentence).toBe(`2 of 2 failures: exit code 3; the first was step 0 on target-${catalog.target_ids[0]}`)
    })

    test('is that of the instance if all failures are on one target', async () => {
      expect(await end(told, [[0, 0, 'exit code 3', 'x']])).toBe(told)
      expect(
        await end(told, [
          [0, 0, 'exit code 3', 'x'],
          [0, 1, 'exit code 3', 'x'],
        ]),
      ).toBe(told)
    })

    test('is that of the instance after the deployment timeout, whatever commands were killed', async () => {
      const late = 'Out of time'
      const killed: [number, number, string, string | null][] = [
        [0, 0, 'killed', 'deployment-timeout'],
        [1, 0, 'killed', 'deployment-timeout'],
      ]
      expect(await end(late, killed, 'deployment_timeout')).toBe(late)
    })
  })
})

describe('cancel', () => {
  test('ends the deployment, its steps and its lease, and notifies the instance', async () => {
    await addInstance(database, 1)
    const { id } = await started()
    await setStep(database, id, [0, 0], 'completed')
    await setStep(database, id, [0, 1], 'running')
    await cancelDeployment(asDispatcher, { deployment_id: id, caller: ADMIN, reason: 'wrong version' }, first())

    expect(await deployment(database, id)).toMatchObject({
      state: 'cancelled',
      cancelled_by: ADMIN.username,
      cancel_reason: 'wrong version',
      error_message: null,
    })
    expect(await stepStates(database, id)).toEqual(['completed', ...Array(5).fill('cancelled')])
    expect(await liveLease(database, id)).toBeNull()
    expect(await outbox(database, id)).toEqual([
      ...['lease.changed', 'deployment.created'],
      ...['lease.changed', 'deployment.updated', 'slot.freed'],
    ])
  })

  test('records for each running command whether the instance confirmed its end', async () => {
    await addInstance(database, 1)
    const { id, epoch } = await started()
    await setStep(database, id, [0, 0], 'completed')
    for (const place of [
      [0, 1],
      [1, 0],
    ] as [number, number][])
      await setStep(database, id, place, 'running')
    await cancelDeployment(asDispatcher, { deployment_id: id, caller: ADMIN }, first())
    const ran = 'the deployment was cancelled while the command ran'
    const none = [null, null]
    expect(await endsOf(id)).toEqual([none, [false, ran], none, [false, ran], none, none])

    // Step [1, 1] had no run event before the cancel.
    const told = {
      deployment_id: id,
      epoch,
      unconfirmed: [
        [1, 0],
        [1, 1],
      ] as [number, number][],
    }
    expect(await confirmEnds(asDispatcher, { ...told, epoch: epoch - 1 })).toBe(false)
    expect(await stoppedAt(epoch)).toBeNull()
    expect(await confirmEnds(asDispatcher, told)).toBe(true)
    expect(await stoppedAt(epoch)).toBeInstanceOf(Date)
    const after = [...[none, [true, ran], none, [false, ran]], ...[[false, 'the deployment was cancelled'], none]]
    expect(await endsOf(id)).toEqual(after)
    expect(await confirmEnds(asDispatcher, told)).toBe(false)
    expect(await endsOf(id)).toEqual(after)
    expect(await stepStates(database, id)).toEqual(['completed', ...Array(5).fill('cancelled')])
  })

  test('is refused if the deployment has ended, does not exist, or belongs to another tenant or to none', async () => {
    await addInstance(database, 3)
    const { id, epoch } = await started({ tenant: true })
    const cancel = (caller: typeof ADMIN, deployment_id = id) =>
      cancelDeployment(asDispatcher, { deployment_id, caller }, first()).catch(codeOf)
    expect(await cancel(ADMIN, uuidv7())).toBe('NOT_FOUND')
    expect(await cancel({ ...ADMIN, tenant_id: uuidv7() })).toBe('NOT_FOUND')
    const shared = await started()
    expect(await cancel({ ...ADMIN, tenant_id: catalog.tenant_id }, shared.id)).toBe('INSUFFICIENT_PERMISSIONS')
    await finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'success', error_message: null })
    expect(await cancel(ADMIN)).toBe('CONFLICT')
    expect(await states(database, id)).toEqual(['running', 'success'])
  })

  test('has no effect after its deadline, and its copy is no conflict', async () => {
    await addInstance(database, 1)
    const { id } = await started()
    const command = { deployment_id: id, caller: ADMIN }
    const deadline = new Date(Date.now() - 1000).toISOString()
    expect(await cancelDeployment(asDispatcher, command, { ...first(), deadline })).toBeNull()
    expect((await deployment(database, id)).state).toBe('running')
    const received = first()
    await cancelDeployment(asDispatcher, command, received)
    expect(await cancelDeployment(asDispatcher, command, received)).toEqual({ deployment_id: id })
    await expect(cancelDeployment(asDispatcher, command, first())).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('whose commit fails is not answered, and takes effect when it is repeated', async () => {
    await addInstance(database, 1)
    const { id } = await started()
    const received = first()
    const cancel = () => cancelDeployment(asDispatcher, { deployment_id: id, caller: ADMIN }, received)
    await expect(whileCommitsFail(database, 'deployments', cancel)).rejects.toMatchObject({ severity: 'ERROR' })
    expect((await deployment(database, id)).state).toBe('running')
    expect(await cancel()).toEqual({ deployment_id: id })
  })

  test('exactly one of a simultaneous cancel and finish succeeds', async () => {
    await addInstance(database, 12)
    const runs = await Promise.all(Array.from({ length: 12 }, () => started()))
    await Promise.all(
      runs.map(async ({ id, epoch }) => {
        const [cancelled, finished] = await Promise.all([
          cancelDeployment(asDispatcher, { deployment_id: id, caller: ADMIN }, first()).then(
            () => true,
            () => false,
          ),
          finishDeployment(asDispatcher, { deployment_id: id, epoch, outcome: 'success', error_message: null }),
        ])
        expect([cancelled, finished].filter(Boolean)).toHaveLength(1)
        const state = cancelled ? 'cancelled' : 'success'
        expect(await states(database, id)).toEqual(['running', state])
        expect((await deployment(database, id)).state).toBe(state)
        const events = (await outbox(database, id)).filter((type) => type === 'deployment.updated')
        expect(events).toHaveLength(1)
      }),
    )
  })

  test('waits for a batch of events that is being applied under the lease', async () => {
    await addInstance(database, 1)
    const { id, epoch } = await started()
    let cancelling: Promise<unknown> | undefined
    await database.transaction(async (tx) => {
      await tx.query('SELECT FROM leases WHERE deployment_id = $1 AND epoch = $2 AND ended_at IS NULL FOR SHARE', [
        id,
        epoch,
      ])
      cancelling = cancelDeployment(asDispatcher, { deployment_id: id, caller: ADMIN }, first())
      await tx.query(
        `UPDATE steps SET state = 'completed' WHERE deployment_id = $1 AND target_index = 0 AND action_index = 0`,
        [id],
      )
    })
    await cancelling
    expect((await stepStates(database, id))[0]).toBe('completed')
    expect((await deployment(database, id)).state).toBe('cancelled')
  })
})
