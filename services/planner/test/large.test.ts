import { expect, test } from '@jest/globals'
import { addLocalTargets, raised } from '@slipway/testing'
import { refusal, tooLarge } from '../src/planning/outcome.ts'
import { addSource, addTarget, type Request, type StartCommand, storeDeployment } from './fixtures.ts'
import { testRig } from './rig.ts'

const PLANS = 'slipway_plan_duration_seconds_count'

const plannedApart: string[] = []
const rig = await testRig({
  // The thread of main.ts starts from a compiled file.
  async outcomeOf({ type }) {
    plannedApart.push(type)
    return refusal(tooLarge())
  },
})

test('plans of more than 500 targets are made in a thread, and timed apart', async () => {
  const { id: action_id } = await addSource(rig.database)
  const target_ids = await addLocalTargets(rig.database, 500)
  const extra = await addTarget(rig.database)
  const small = { action_id, target_ids }
  const timed = (request: Request) =>
    raised(
      () => rig.ask('plan.create', request),
      [
        [PLANS, { command: 'plan.create', size: 'small' }],
        [PLANS, { command: 'plan.create', size: 'large' }],
      ],
    )
  expect(await timed(small)).toEqual([1, 0])
  const tagged = { action_id, target_tags: [{ key: 'fleet', value: 'racks' }] }
  expect(await timed(tagged)).toEqual([1, 0])
  expect(await timed({ action_id, target_ids: [...target_ids, extra.id] })).toEqual([0, 1])
  await rig.database.query(`INSERT INTO target_tags VALUES ($1, 'fleet', 'racks')`, [extra.id])
  expect(await timed(tagged)).toEqual([0, 1])
  expect(plannedApart).toEqual(['plan.create', 'plan.create'])
})

test('a redeploy is large if its original is, unless it names its targets', async () => {
  const { id: action_id } = await addSource(rig.database)
  const target = await addTarget(rig.database)
  const { command_id } = await rig.planned({ action_id, target_ids: [target.id] })
  await storeDeployment(rig.database, rig.started.find((each) => each.command_id === command_id) as StartCommand)
  await rig.database.query(
    `INSERT INTO deployment_targets SELECT deployment_id, n, target_id, target_name, variables, values_hash
       FROM deployment_targets, generate_series(1, 500) n WHERE deployment_id = $1`,
    [command_id],
  )
  plannedApart.length = 0
  expect(await rig.redeploy(command_id)).toMatchObject({ ok: false, problem: { code: 'PAYLOAD_TOO_LARGE' } })
  expect(await rig.redeploy(command_id, { target_ids: [target.id] })).toMatchObject({ ok: true })
  expect(plannedApart).toEqual(['plan.redeploy'])
})
