import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { stepId } from '@slipway/domain'
import { addDeployment } from './deployment-rows.ts'
import { type Client, clientOf, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
let admin: Client

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
})
afterAll(() => gateway.close())

test('results of commands are ordered by start, with tails of at most 2000 characters', async () => {
  const id = await addDeployment(gateway.database)
  await gateway.database.query(
    `INSERT INTO command_results (deployment_id, target_index, action_index, status, exit_code, stdout_tail, stderr_tail, error_message, started_at, completed_at)
     VALUES ($1, 1, 0, 'failed', NULL, '', 'no', 'killed by SIGKILL', now() + interval '1 s', now() + interval '3 s'),
            ($1, 0, 0, 'completed', 0, repeat('a', 10) || repeat('é', 2000), '', NULL, now(), now() + interval '1 s')`,
    [id],
  )
  const { body } = await admin.send('listCommandResults', `/deployments/${id}/analysis`)
  expect(body).toHaveLength(2)
  expect(body[0]).toMatchObject({
    id: stepId(id, 0, 0),
    status: 'completed',
    exit_code: 0,
    duration_ms: 1_000,
    target_name: 'target-0',
  })
  expect(body[0].stdout_tail).toBe('é'.repeat(2_000))
  expect(body[0]).not.toHaveProperty('error_message')
  expect(body[1]).toMatchObject({ status: 'failed', error_message: 'killed by SIGKILL' })
  expect(body[1]).not.toHaveProperty('exit_code')
  const some = async (query: string) => {
    const answer = await admin.send('listCommandResults', `/deployments/${id}/analysis?${query}`)
    return answer.body.map(({ status }: { status: string }) => status)
  }
  expect(await some('status=failed')).toEqual(['failed'])
  expect(await some(`step_id=${stepId(id, 0, 0)}`)).toEqual(['completed'])
  expect(await some(`step_id=${stepId(id, 0, 0)}&status=failed`)).toEqual([])
  expect(await some(`step_id=${stepId(id, 7, 7)}`)).toEqual([])
})

describe('the analysis of a failed command', () => {
  const analysis = {
    ...{ confidence: 0.9, summary: 'The disk is full', likely_cause: 'It has no room', remediation: ['Make room'] },
    ...{ analyzed_at: '2026-01-31T09:00:02.000Z', model_version: 'rules-3', fingerprint: 'disk-full' },
  }
  const addResult = (id: string, fields: { stored: object | null; error?: string; stderr?: string }) =>
    gateway.database.query(
      `INSERT INTO command_results (deployment_id, target_index, action_index, status, exit_code, stdout_tail, stderr_tail,
         error_message, analysis, started_at, completed_at)
       VALUES ($1, 0, 0, 'failed', 1, '', $3, $4, $2, '2026-01-31T09:00:00Z', '2026-01-31T09:00:02Z')`,
      [id, fields.stored && JSON.stringify(fields.stored), fields.stderr ?? '', fields.error ?? 'exit code 1'],
    )
  const results = async (id: string) => (await admin.send('listCommandResults', `/deployments/${id}/analysis`)).body
  const history = async (id: string) => (await admin.send('listDeploymentLogs', `/deployments/${id}/logs/history`)).body

  test('is returned as it is stored, with its fingerprint', async () => {
    const id = await addDeployment(gateway.database)
    await addResult(id, { stored: analysis })
    expect((await results(id))[0].analysis).toEqual(analysis)
  })

  test('is made by the rules if none is stored, unless the analysis is disabled', async () => {
    const id = await addDeployment(gateway.database)
    await addResult(id, { stored: null, stderr: 'cp: x: No space left on device' })
    await gateway.database.query(
      `UPDATE steps SET state = 'failed', ever_failed = true, error_message = 'the instance was lost while the command ran',
         started_at = '2026-01-31T09:00:03Z', completed_at = '2026-01-31T09:00:04Z'
        WHERE deployment_id = $1 AND target_index = 1 AND action_index = 0`,
      [id],
    )
    expect(await results(id)).toMatchObject([
      { analysis: { summary: 'The disk is full', fingerprint: 'disk-full', analyzed_at: '2026-01-31T09:00:02.000Z' } },
      { analysis: { summary: expect.stringContaining('instance was lost'), analyzed_at: '2026-01-31T09:00:04.000Z' } },
    ])
    await gateway.database.query('UPDATE deployments SET analysis_enabled = false WHERE id = $1', [id])
    for (const result of await results(id)) expect(result).not.toHaveProperty('analysis')
  })

  test('is in the log entry of the failure, in its newest version', async () => {
    const id = await addDeployment(gateway.database)
    const report = { t: 1_700_000_000_000, i: 0, a: 0, s: 's', l: 'error', m: 'it failed' }
    const lines = [
      { ...report, x: { exit_code: 1, fingerprint: 'disk-full', analysis } },
      { ...report, x: { exit_code: 1 } },
    ]
    await gateway.database.query(
      'INSERT INTO log_chunks (deployment_id, first_line, line_count, lines) VALUES ($1, 0, 2, $2)',
      [id, JSON.stringify(lines)],
    )
    const metadata = { exit_code: 1, fingerprint: 'disk-full', seq: 0 }
    expect(await history(id)).toMatchObject([{ analysis, metadata }, { analysis: null }])
    const newer = { ...analysis, summary: 'The volume is full', model_version: 'oracle-1' }
    await addResult(id, { stored: newer })
    const [first] = await history(id)
    expect([first.analysis, first.metadata]).toEqual([newer, metadata])
  })
})

test('cancelled commands have a result of their last attempt, and steps that never ran have none', async () => {
  const id = await addDeployment(gateway.database, { state: 'cancelled' })
  await gateway.database.query(
    `UPDATE steps SET state = 'cancelled', error_message = CASE WHEN target_index = 0 THEN 'cancelled while it ran' END,
       started_at = CASE WHEN target_index = 0 THEN now() - interval '5 s' END,
       attempt_started_at = CASE WHEN target_index = 0 THEN now() - interval '2 s' END,
       completed_at = CASE WHEN target_index = 0 THEN now() END, dropped_lines = CASE WHEN target_index = 0 THEN 7 END
      WHERE deployment_id = $1 AND action_index = 0`,
    [id],
  )
  const { body } = await admin.send('listCommandResults', `/deployments/${id}/analysis`)
  expect(body).toEqual([
    {
      id: stepId(id, 0, 0),
      target_id: expect.any(String),
      target_name: 'target-0',
      action_name: 'action-0',
      action_version: '1.0.0',
      status: 'cancelled',
      error_message: 'cancelled while it ran',
      dropped_lines: 7,
      started_at: expect.any(String),
      completed_at: expect.any(String),
      duration_ms: 2_000,
    },
  ])
})

test('commands without a stored result are listed without their output', async () => {
  const id = await addDeployment(gateway.database, { state: 'failed', targets: 1, actions: 3 })
  await gateway.database.query(
    `UPDATE steps SET state = (CASE WHEN action_index = 0 THEN 'completed' WHEN action_index = 1 THEN 'failed' ELSE 'skipped' END)::step_state,
       ever_failed = action_index = 1, exit_code = CASE WHEN action_index < 2 THEN action_index * 7 END,
       error_message = CASE WHEN action_index = 1 THEN 'exit code 7' END,
       started_at = CASE WHEN action_index < 2 THEN now() + action_index * interval '1 s' END,
       completed_at = now() + interval '2 s'
      WHERE deployment_id = $1`,
    [id],
  )
  const { body } = await admin.send('listCommandResults', `/deployments/${id}/analysis`)
  expect(body).toMatchObject([
    { id: stepId(id, 0, 0), status: 'completed', exit_code: 0 },
    { id: stepId(id, 0, 1), status: 'failed', exit_code: 7, error_message: 'exit code 7' },
  ])
  for (const result of body) expect(result).not.toHaveProperty('stdout_tail')
})
