import type { StoredLine } from '@slipway/contracts'
import type { Database, Queryable, RowOf } from '@slipway/database'
import { outputTail } from '@slipway/domain'
import { findChunks, type findHeads, findOutputs, findProgress, findSteps, findTransitions } from './deployments.sql.ts'

/** Shows whether a reader is up to date. */
export type Head = RowOf<typeof findHeads>

export type StepRow = RowOf<typeof findSteps>

export type Transition = RowOf<typeof findTransitions>

/** A deployment at one moment. */
export interface Snapshot extends RowOf<typeof findProgress> {
  transitions: Transition[]
  /** Every step that is not pending. */
  steps: StepRow[]
  /** The requested lines, from `linesFrom`. */
  lines: StoredLine[]
}

export type Chunk = RowOf<typeof findChunks>

/**
 * Reads a deployment in one snapshot, so that all numbers belong together. Reads lines from `linesFrom` if there are at most
 * `maxLines`, and none if it is null.
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
    const isShort = linesFrom !== null && progress.next_line - linesFrom <= maxLines
    const lines = isShort ? await linesBetween(tx, id, linesFrom, progress.next_line) : []
    return { ...progress, transitions, steps, lines }
  })
}

/** The end of the output of the commands of these steps, by target and action. Only commands with output are included. */
export async function outputsOf(
  db: Queryable,
  deployment_id: string,
  steps: readonly Pick<StepRow, 'target' | 'action'>[],
): Promise<{ target: number; action: number; output: string }[]> {
  if (steps.length === 0) return []
  const rows = await findOutputs.all(db, {
    deployment_id,
    steps: steps.map(({ target, action }) => ({ target_index: target, action_index: action })),
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

/** The next chunks with lines of `from` to `to`. The first chunk is cut to begin at `from`. */
export async function chunksFrom(db: Queryable, id: string, from: number, to: number): Promise<Chunk[]> {
  const rows = await findChunks.all(db, { deployment_id: id, from_line: from, to_line: to })
  const [first, ...others] = rows
  if (!first || first.first_line >= from) return rows
  const lines = first.lines.slice(from - first.first_line)
  return lines.length === 0 ? others : [{ first_line: from, lines }, ...others]
}
