import type { Database } from '@slipway/database'
import { counter, measure } from '@slipway/runtime'
import { countDrifted } from './results.sql.ts'

export const checkResults = counter(
  'slipway_release_checks_total',
  'Checks of a release on a target: in_sync, drifted or unknown (the check could not be done)',
  ['result'],
)

export function measureDrift(database: Database): void {
  measure(
    'drift',
    { slipway_drifted_releases: { help: 'Releases in force on a target that a check found changed' } },
    async () => ({ slipway_drifted_releases: (await countDrifted.one(database)).drifted }),
  )
}
