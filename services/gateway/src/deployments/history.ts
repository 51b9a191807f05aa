import { stripVTControlCharacters } from 'node:util'
import type { Queryable, RowOf } from '@slipway/database'
import type { Viewer } from '@slipway/database/read-models'
import { lineId, stepId, unavailable, validationProblem } from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { FairSemaphore, LineFull } from '@slipway/runtime'
import type { Call } from '../handler.ts'
import { findAnalyses, findEnds, findLines, findLineTargets, findSpan } from './history.sql.ts'
import { isFiltered, type LogFilter, readFilter } from './log-filter.ts'
import { searchLines, searchLinesBefore } from './log-search.sql.ts'
import { type LogPage, type NumberedLine, searchLog, searchLogBefore } from './log-search.ts'
import { requireVisible } from './visible-deployment.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000
/** For how long a request looks through the log. Then it answers with what it has found. */
const SEARCH_MS = 1_000
/** Searches need the CPU of Postgres, so tenants take turns, statement by statement. Callers without tenant count as one. */
const SEARCHES = { limit: 4, perKey: 2, maxWaiting: 50 }

type Query = Call<'listDeploymentLogs'>['query']
type Listing = Pick<Call<'listDeploymentLogs'>, 'params' | 'query'> & { caller: Viewer }
type Text = Pick<Call<'readDeploymentLogText'>, 'params' | 'query'> & { caller: Viewer }
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
    const { from, before } = placeOf(query, stored)
    const limit = Math.min(Math.max(1, Number(query.limit ?? DEFAULT_LIMIT)), MAX_LIMIT)
    const filter = await readFilter(db, id, query)
    const tenant = caller.tenant_id ?? ''
    const { lines, next } = await (before === undefined
      ? isFiltered(query)
        ? search(stored, from, limit, filter, tenant)
        : read(stored, from, limit)
      : searchBefore(stored, before, limit, filter, tenant))
    const [targets, analyses] = await Promise.all([targetsOf(db, id, lines), analysesOf(db, id, lines)])
    return {
      status: 200,
      headers: headersOf({
        'X-Log-First': stored.first,
        'X-Log-Lines': Math.max(stored.end, next),
        'X-Log-Next': next,
      }),
      body: lines.map((line) => entryOf(id, line, targets, analyses)),
    }
  }

  /** Reads the log as text: page by page, while the client takes it. */
  async function readText({ caller, params, query }: Text): Promise<Answer> {
    const { id } = await requireVisible(db, caller, 'deployment', params['id'] ?? '')
    const stored = await findStored(db, id)
    const filter = await readFilter(db, id, query)
    const tenant = caller.tenant_id ?? ''
    const pageFrom = (from: number) =>
      isFiltered(query) ? search(stored, from, MAX_LIMIT, filter, tenant) : read(stored, from, MAX_LIMIT)
    async function* texts() {
      for (let from = Math.max(stored.first, Number(query.from ?? 0)); from < stored.end; ) {
        const { lines, next } = await pageFrom(from)
        yield textOf(lines, query.raw === 'true' ? null : await targetsOf(db, id, lines))
        from = next
      }
    }
    return {
      status: 200,
      headers: {
        'Content-Disposition': `attachment; filename="deployment-${id}.log"`,
        ...headersOf({ 'X-Log-First': stored.first, 'X-Log-Lines': stored.end }),
      },
      lines: texts(),
    }
  }

  async function read({ id, from: since, to, end }: Stored, from: number, limit: number): Promise<LogPage> {
    if (from >= end) return { lines: [], next: end }
    const chunks = await findLines.all(db, { id, from: since, to, line: from, limit: Math.min(limit, end - from) })
    const lines = chunks.flatMap(({ first_line, lines }) =>
      lines.map((line, index) => ({ ...line, number: first_line + index })),
    )
    return { lines, next: (lines.at(-1)?.number ?? end - 1) + 1 }
  }

  async function search(
    { id, from: since, to, end }: Stored,
    from: number,
    limit: number,
    filter: LogFilter | null,
    tenant: string,
  ): Promise<LogPage> {
    if (filter === null) return { lines: [], next: end }
    return takingTurns(
      searchLog({
        from: Math.min(from, end),
        end,
        limit,
        look: (part) => searching.run(tenant, () => searchLines.one(db, { id, from: since, to, ...part, ...filter })),
        hasTime: timer(),
      }),
    )
  }

  async function searchBefore(
    { id, from: since, to, first, end }: Stored,
    before: number,
    limit: number,
    filter: LogFilter | null,
    tenant: string,
  ): Promise<LogPage> {
    if (filter === null) return { lines: [], next: first }
    return takingTurns(
      searchLogBefore({
        before: Math.min(before, end),
        first,
        limit,
        look: (part) =>
          searching.run(tenant, () => searchLinesBefore.one(db, { id, from: since, to, ...part, ...filter })),
        hasTime: timer(),
      }),
    )
  }

  return { listLogs, readText }
}

const headersOf = (numbers: Record<string, number>) =>
  Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, String(value)]))

function timer(): () => boolean {
  const began = performance.now()
  return () => performance.now() - began < SEARCH_MS
}

/** @throws Problem SERVICE_UNAVAILABLE */
async function takingTurns(search: Promise<LogPage>): Promise<LogPage> {
  return search.catch((error) => {
    if (!(error instanceof LineFull)) throw error
    throw unavailable('Too many log searches of your tenant wait: try again in a few seconds')
  })
}

/** The lines as text; without the names of targets, the output alone. */
function textOf(lines: NumberedLine[], targets: Map<number, TargetRow> | null): string {
  const texts = lines.map(({ t, i, m }) => {
    if (targets === null) return `${m}\n`
    const target = i === null ? undefined : targets.get(i)
    return `${new Date(t).toISOString()}\t${target?.target_name ?? ''}\t${stripVTControlCharacters(m)}\n`
  })
  return texts.join('')
}

async function findStored(db: Queryable, id: string): Promise<Stored> {
  const span = (await findSpan.first(db, { id })) ?? { from: null, to: null }
  const { first, end } = await findEnds.one(db, { id, ...span })
  return { id, ...span, first: first ?? 0, end: end ?? 0 }
}

/** The number of the first line that a query wants, or of the line before which it looks backward. */
function placeOf({ offset, from, before }: Query, { first }: Stored): { from: number; before?: number } {
  for (const [other, value] of Object.entries({ offset, before })) {
    if (value !== undefined && from !== undefined) {
      throw validationProblem([{ path: 'query/from', message: `must not be given together with ${other}` }])
    }
  }
  if (offset !== undefined && before !== undefined) {
    throw validationProblem([{ path: 'query/before', message: 'must not be given together with offset' }])
  }
  if (before !== undefined) return { from: first, before: Number(before) }
  return { from: from === undefined ? first + Math.max(0, Number(offset ?? 0)) : Math.max(first, Number(from)) }
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
