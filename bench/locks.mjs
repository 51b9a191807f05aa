import { addLocalTargets } from '../tests/support/dist/index.js'
import { settle } from './instance.mjs'
import { figure, line } from './report.mjs'
import { interleave } from './rounds.mjs'

const TARGETS = 1_000
/** Creates in a figure. One alone varies by more than what is measured. */
const CREATES = 5

/** Goal 25: creates for a thousand targets that lock them all, beside the same creates without a policy. */
export async function measureLocks({ suite, database, api, instance, action_id, sequence, rounds }) {
  const ids = await addLocalTargets(database, TARGETS)
  const request = (source) => ({
    method: 'POST',
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...source, target_ids: ids }),
  })
  const creates = (source, policy) => async () => {
    await database.query('UPDATE targets SET concurrency = $1::target_concurrency WHERE id = ANY ($2)', [policy, ids])
    await database.query('VACUUM (ANALYZE) targets, target_locks, steps, deployment_targets')
    let ms = 0
    // The first create is not counted: it plans its statements anew after VACUUM, and follows creates of another size.
    for (let n = 0; n <= CREATES; n += 1) {
      const at = performance.now()
      const answer = await fetch(`${suite.url}/api/v1/deployments`, request(source))
      await answer.arrayBuffer()
      if (n > 0) ms += (performance.now() - at) / CREATES
      if (answer.status !== 201) throw new Error(`create answered ${answer.status}`)
      const { rows } = await database.query('SELECT count(deployment_id)::int AS locks FROM target_locks')
      if (rows[0].locks !== (policy === null ? 0 : TARGETS)) throw new Error(`${rows[0].locks} locks were taken`)
      await settle({ instance, database })
    }
    return ms
  }
  const times = await interleave(
    {
      locked: creates({ action_id }, 'queue'),
      free: creates({ action_id }, null),
      locked20: creates({ sequence_id: sequence }, 'queue'),
      free20: creates({ sequence_id: sequence }, null),
    },
    rounds,
  )
  await database.query('UPDATE targets SET concurrency = NULL WHERE id = ANY ($1)', [ids])
  return [
    line(
      25,
      `create with ${TARGETS} locks and 20 actions, of one without locks`,
      times.locked20,
      times.free20,
      '≤ 1.05',
    ),
    line(25, `create with ${TARGETS} locks and 1 action, of one without locks`, times.locked, times.free, '≤ 1.05'),
    figure('create with locks and 20 actions, ms', times.locked20),
    figure('create with locks and 1 action, ms', times.locked),
  ]
}
