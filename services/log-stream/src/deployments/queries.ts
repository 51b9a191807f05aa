import type { StoredLine } from '@slipway/contracts'
import type { Database, Queryable, RowOf } from '@slipway/database'
import { outputTail } from '@slipway/domain'
import { findChunks, type findHeads, findOutputs, findProgress, findSteps, findTransitions } from './deployments.sql.ts'

/** What says whether a reader is up to date. */
export type Head = RowOf<typeof findHeads>

export type StepRow = RowOf<typeof findSteps>

export type Transition = RowOf<typeof findTransitions>

/** A deployment at one moment. */
export interface Snapshot extends RowOf<typeof findProgress> {
  transitions: Transition[]
  /** Every step that has left pending. */
  steps: StepRow[]
  /** The lines that were asked for, from `linesFrom`. */
  lines: StoredLine[]
}

export type Chunk = RowOf<typeof findChunks>

/**
 * All of a deployment at one moment, so that its numbers hold for all of it. Lines are read from `linesFrom` when there are at
 * most `maxLines`, and not at all when it is null.
 */
export async function takeSnapshot(
  database: Database,
  id: string,
  linesFrom: number | null,
  maxLines: number,
): Promise<Snapshot> {
  return database.snapshot(async (tx) => {
    const progress = await findProgress.first(tx, { id })
    if (progress === null) throw new Error(`deployment ${id} is gone`)
    const transitions = await findTransitions.all(tx, { deployment_id: id })
    const steps = await findSteps.all(tx, { deployment_id: id })
    const wanted = linesFrom !== null && progress.next_line - linesFrom <= maxLines
    const lines = wanted ? await linesBetween(tx, id, linesFrom, progress.next_line) : []
    return { ...progress, transitions, steps, lines }
  })
}

/** The ends of what the commands of these steps wrote, by target and action; of those that wrote something. */
export async function outputsOf(
  db: Queryable,
  deployment_id: string,
  steps: readonly Pick<StepRow, 'target' | 'action'>[],
): Promise<{ target: number; action: number; output: string }[]> {
  if (steps.length === 0) return []
  const rows = await findOutputs.all(db, {
    deployment_id,
    targets: steps.map(({ target }) => target),
    actions: steps.map(({ action }) => action),
  })
  return rows.flatMap(({ target, action, stdout, stderr }) => {
    const output = outputTail(stdout, stderr)
    return output === null ? [] : [{ target, action, output }]
  })
}

async function linesBetween(db: Queryable, id: string, from: number, to: number): Promise<StoredLine[]> {
  const lines: StoredLine[] = []
  while (from + lines.length < to) {
    const next = from + lines.length
    const page = await chunksFrom(db, id, next, to)
    if (page[0]?.first_line !== next) throw new Error(`line ${next} of deployment ${id} is missing`)
    for (const chunk of page) lines.push(...chunk.lines)
  }
  return lines
}

/** The next chunks of the log that hold lines of `from` to `to`, the first cut to begin at `from`; none when there are none. */
export async function chunksFrom(db: Queryable, id: string, from: number, to: number): Promise<Chunk[]> {
  const rows = await findChunks.all(db, { deployment_id: id, from_line: from, to_line: to })
  const [first, ...others] = rows
  if (!first || first.first_line >= from) return rows
  const lines = first.lines.slice(from - first.first_line)
  return lines.length === 0 ? others : [{ first_line: from, lines }, ...others]
}
