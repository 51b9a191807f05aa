import { expect, test } from '@jest/globals'
import { addLocalTargets } from '@slipway/testing'
import { addSource } from './fixtures.ts'
import { testRig } from './rig.ts'

const rig = await testRig()

test('a plan of 501 targets whose variables have 35 MB is refused before they are read', async () => {
  const { id: action_id } = await addSource(rig.database)
  const target_ids = await addLocalTargets(rig.database, 501)
  expect((await rig.planned({ action_id, target_ids })).plan.targets).toHaveLength(501)
  // These values are not sealed, so reading them would fail in another way.
  await rig.database.query(`UPDATE targets SET variables_sealed = repeat('x', 70000) WHERE id = ANY($1::uuid[])`, [
    target_ids,
  ])
  expect(await rig.refused({ action_id, target_ids })).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  const byTag = { action_id, target_tags: [{ key: 'fleet', value: 'racks' }] }
  expect(await rig.refused(byTag)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
})
