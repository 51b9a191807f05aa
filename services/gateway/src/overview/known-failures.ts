import type { Queryable } from '@slipway/database'
import { type ExplainedFailure, explainFailure, type Failure } from './failures.ts'
import { findFailures } from './overview.sql.ts'

const MOST_KNOWN = 10_000
/** After this time, no analysis of a failed command is stored any more. */
const SETTLED_MS = 10 * 60_000

/**
 * What failures say. It does not change after a while, so each is read once: the first screen asks for all failures of a day every few
 * seconds.
 */
export class KnownFailures {
  readonly #known = new Map<string, ExplainedFailure>()

  /** Explains failures that the caller may see, in their order. */
  async explain(db: Queryable, ids: readonly string[], now: Date): Promise<ExplainedFailure[]> {
    const known = new Map(ids.flatMap((id) => this.#known.get(id) ?? []).map((failure) => [failure.id, failure]))
    const unknown = ids.filter((id) => !known.has(id))
    const read = unknown.length === 0 ? [] : await findFailures.all(db, { ids: unknown })
    for (const failure of read) {
      const explained = explainFailure(failure)
      known.set(failure.id, explained)
      if (isSettled(failure, now)) this.#keep(explained)
    }
    return ids.flatMap((id) => known.get(id) ?? [])
  }

  #keep(failure: ExplainedFailure): void {
    // Old failures are not asked for any more.
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(failure.id, failure)
  }
}

const isSettled = ({ cause }: Failure, now: Date) =>
  cause !== null && (cause.summary !== null || now.getTime() - Date.parse(cause.completed_at) > SETTLED_MS)
