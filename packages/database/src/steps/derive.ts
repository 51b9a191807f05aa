import { IN_FORCE, type Part, partState, type Release, releaseOf } from '@slipway/engine'
import { enqueue, eventMessage } from '../outbox.ts'
import type { Queryable, RowOf } from '../sql/statement.ts'
import * as sql from './parts.sql.ts'

type PartRow = RowOf<typeof sql.findAllParts>
type DeploymentRow = RowOf<typeof sql.findDeploymentsOfParts>

/** Parts whose steps may have changed, with their deployments. */
export interface FoundParts {
  parts: readonly PartRow[]
  deployments: readonly DeploymentRow[]
}

/** What follows from the steps of parts and is not written yet. */
interface Derived {
  releases: { part: PartRow; source_id: string; release: Release }[]
  /** Parts whose locks end. */
  over: PartRow[]
}

export async function findParts(
  tx: Queryable,
  deploymentIds: readonly string[],
  parts: Promise<readonly PartRow[]>,
): Promise<FoundParts> {
  const [found, deployments] = await Promise.all([parts, sql.findDeploymentsOfParts.all(tx, { ids: deploymentIds })])
  return { parts: found, deployments }
}

/**
 * Writes the releases of parts, which of them are in force, and releases the locks of parts that are over. The number of
 * statements does not depend on the number of parts. Returns whether a request waited for a lock.
 */
export async function writeDerived(tx: Queryable, found: FoundParts): Promise<boolean> {
  const { releases, over } = derive(found)
  const [, wasWanted] = await Promise.all([writeReleases(tx, releases), freeLocks(tx, over)])
  return wasWanted
}

function derive({ parts, deployments }: FoundParts): Derived {
  const byId = new Map(deployments.map((deployment) => [deployment.id, deployment]))
  const derived: Derived = { releases: [], over: [] }
  for (const row of parts) {
    const deployment = byId.get(row.deployment_id)
    if (deployment === undefined) continue
    const part = partOf(row)
    // A check is no release.
    const release = deployment.is_check ? null : releaseOf(part, released(deployment), row.release !== null, row.at)
    if (release !== null && release.state !== row.release) {
      derived.releases.push({ part: row, source_id: deployment.source_id, release })
    }
    // The locks of a deployment that has ended are released together.
    const isOver = partState(part, deployment.rollback_strategy) === 'over'
    if (row.is_locked && !deployment.is_over && isOver) derived.over.push(row)
  }
  return derived
}

const partOf = (row: PartRow): Part => ({
  states: row.states,
  revertibleStates: row.revertible_states,
  wasStopped: row.was_stopped,
  startedAt: row.started_at,
  lastEndAt: row.last_end_at,
})

const released = ({ state, is_over, failure_strategy }: DeploymentRow) => ({
  state,
  isOver: is_over,
  failureStrategy: failure_strategy,
})

async function writeReleases(tx: Queryable, releases: Derived['releases']): Promise<void> {
  if (releases.length === 0) return
  const heads = releases.map(({ part, source_id }) => ({ target_id: part.target_id, source_id }))
  const rows = releases.map(({ part, release }) => ({
    deployment_id: part.deployment_id,
    target_index: part.target_index,
    state: release.state,
    begun_at: release.begunAt,
    ended_at: release.endedAt,
  }))
  await Promise.all([
    sql.addHeads.run(tx, { heads }),
    sql.lockHeads.run(tx, { heads }),
    sql.putReleases.run(tx, { releases: rows }),
    sql.moveHeads.run(tx, { heads, in_force: IN_FORCE }),
  ])
}

/** Tells the dispatcher of freed targets that a request waits for. Returns whether there are any. */
async function freeLocks(tx: Queryable, over: readonly PartRow[]): Promise<boolean> {
  if (over.length === 0) return false
  const freed = await sql.freeLocks.all(tx, { parts: over })
  const awaited = freed.filter(({ is_wanted }) => is_wanted)
  await enqueue(
    tx,
    awaited.map(({ instance_id }) => eventMessage('slot.freed', { instance_id })),
  )
  return awaited.length > 0
}
