import type { Queryable } from '@slipway/database'
import type { ConcurrencyPolicy, Plan } from '@slipway/domain'
import { readHolders, targetHeld } from '@slipway/views'
import { isAnyPolicy } from './target-locks.sql.ts'

/** The most targets that are named. */
const NAMED = 5

const EFFECTS: Partial<Record<ConcurrencyPolicy, string>> = { reject: 'the deployment would be refused' }

/** Warns of targets that another deployment holds at this moment, unless their policy allows both. */
export async function lockWarnings(
  database: Queryable,
  { targets }: Pick<Plan, 'targets'>,
  tenantId: string | null,
): Promise<string[]> {
  if (!(await isAnyPolicy.one(database)).any) return []
  const asked = { target_ids: targets.map(({ id }) => id), tenant_id: tenantId }
  const [held = []] = await readHolders(database, [asked], NAMED)
  return held
    .filter(({ policy }) => policy !== 'allow')
    .map((target) => `${targetHeld(target)}: ${EFFECTS[target.policy] ?? 'the deployment would wait'}`)
}
