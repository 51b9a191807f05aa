import type { Queryable, RowOf } from '@slipway/database'
import type { Viewer } from '@slipway/database/read-models'
import { lineId, stepId, unavailable, validationProblem } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { FairSemaphore, LineFull } from '@slipway/runtime'
import type { Call } from '../handler.ts'
import { findAnalyses, findEnds, findLines, findLineTargets, findSpan } from './history.sql.ts'
import { isFiltered, readFilter } from './log-filter.ts'
import { searchLines } from './log-search.sql.ts'
import { type LogPage, type NumberedLine, searchLog } from './log-search.ts'
import { requireVisible } from './visible-deployment.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000
/** For how long a request looks through the log. Then it answers with what it has found. */
const SEARCH_MS = 1_000
/** Searches need the CPU of Postgres, so tenants take turns, statement by statement. Callers without tenant count as one. */
const SEARCHES = { limit: 4, perKey: 2, maxWaiting: 50 }

type Query = Call<'listDeploymentLogs'>['query']
type Listing = Pick<Call<'listDeploymentLogs'>, 'params' | 'query'> & { caller: Viewer }
type TargetRow = RowOf<typeof findLineTargets>

/** The stored part of a log. */
interface Stored extends RowOf<typeof findSpan> {
  id: string
  first: number
  /** The number after the last line. */
  end: number
}

export function createLogReader(db: Queryable) {
  const searching = new FairSemaphore(SEARCHES)

  /**
   * Lists lines of a log. An index finds a line by its number, so every offset costs the same. If retention has dropped the first
   * lines, the offset counts from the first stored line. The numbers do not change.
   */
  async function listLogs({ caller, params, query }: Listing): Promise<Answer> {
    const { id } = await requireVisible(db, caller, 'deployment', params['id'] ?? '')
    const stored = await findStored(db, id)
    const from = startOf(query, stored)
    const limit = Math.min(Math.max(1, Number(query.limit ?? DEFAULT_LIMIT)), MAX_LIMIT)
    const { lines, next } = await (isFiltered(query)
      ? search(stored, from, limit, query, caller.tenant_id ?? '')
      : read(stored, from, limit))
    const [targets, analyses] = await Promise.all([targetsOf(db, id, lines), analysesOf(db, id, lines)])
    const headers = { 'X-Log-First': stored.first, 'X-Log-Lines': Math.max(stored.end, next), 'X-Log-Next': next }
    return {
      status: 200,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: lines.map((line) => entryOf(id, line, targets, analyses)),
    }
  }

  async function read({ id, from: since, to, end }: Stored, from: number, limit: number): Promise<LogPage> {
    if (from >= end) return { lines: [], next: end }
    const chunks = await findLines.all(db, { id, from: since, to, line: from, limit })
    const lines = chunks.flatMap(({ first_line, lines }) =>
      lines.map((line, index) => ({ ...line, number: first_line + index })),
    )
    return { lines, next: (lines.at(-1)?.number ?? end - 1) + 1 }
  }

  async function search(
    { id, from: since, to, end }: Stored,
    from: number,
    limit: number,
    query: Query,
    tenant: string,
  ) {
    const filter = await readFilter(db, id, query)
    if (filter === null) return { lines: [], next: end }
    const began = performance.now()
    return searchLog({
      from: Math.min(from, end),
      end,
      limit,
      look: (part) => searching.run(tenant, () => searchLines.one(db, { id, from: since, to, ...part, ...filter })),
      hasTime: () => performance.now() - began < SEARCH_MS,
    }).catch((error) => {
      if (!(error instanceof LineFull)) throw error
      throw unavailable('Too many log searches of your tenant wait: try again in a few seconds')
    })
  }

  return listLogs
}

async function findStored(db: Queryable, id: string): Promise<Stored> {
  const span = (await findSpan.first(db, { id })) ?? { from: null, to: null }
  const { first, end } = await findEnds.one(db, { id, ...span })
  return { id, ...span, first: first ?? 0, end: end ?? 0 }
}

/** The number of the first line that a query wants. */
function startOf({ offset, from }: Query, { first }: Stored): number {
  if (offset !== undefined && from !== undefined) {
    throw validationProblem([{ path: 'query/from', message: 'must not be given together with offset' }])
  }
  return from === undefined ? first + Math.max(0, Number(offset ?? 0)) : Math.max(first, Number(from))
}

async function targetsOf(db: Queryable, id: string, lines: NumberedLine[]): Promise<Map<number, TargetRow>> {
  const indices = [...new Set(lines.map(({ i }) => i).filter((index) => index !== null))]
  if (indices.length === 0) return new Map()
  const rows = await findLineTargets.all(db, { id, indices })
  return new Map(rows.map((row) => [row.target_index, row]))
}

/** Finds the present analyses of reported failures. A line has only the analysis of the time when it was written. */
async function analysesOf(db: Queryable, id: string, lines: NumberedLine[]): Promise<Map<string, object>> {
  const steps = lines.flatMap(({ x, i, a }) =>
    x?.['analysis'] !== undefined && i !== null && a !== null ? [{ target_index: i, action_index: a }] : [],
  )
  if (steps.length === 0) return new Map()
  const rows = await findAnalyses.all(db, { id, steps })
  return new Map(rows.map(({ place, analysis }) => [place, analysis]))
}

function entryOf(
  deploymentId: string,
  line: NumberedLine,
  targets: Map<number, TargetRow>,
  analyses: Map<string, object>,
) {
  const { number, t, i, a, s, l, m, x: { analysis, ...metadata } = {} } = line
  const target = i === null ? undefined : targets.get(i)
  return {
    id: lineId(deploymentId, number),
    timestamp: new Date(t).toISOString().replace('Z', '+00:00'),
    level: l,
    event_type: 'log',
    step_id: i === null || a === null ? null : stepId(deploymentId, i, a),
    target_id: target?.target_id ?? null,
    target_name: target?.target_name ?? null,
    message: m,
    stdout: s === 'o' ? m : null,
    stderr: s === 'e' ? m : null,
    metadata: { ...metadata, seq: number },
    analysis: analysis === undefined ? null : (analyses.get(`${i}/${a}`) ?? analysis),
  }
}
