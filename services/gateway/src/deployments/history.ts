import type { StoredLine } from '@slipway/contracts'
import type { Queryable, RowOf } from '@slipway/database'
import { lineId, stepId } from '@slipway/domain'
import type { Answer, Call } from '../http/handler.ts'
import { findAnalyses, findLines, findLineTargets, findSpan } from './history.sql.ts'
import { requireVisible } from './visible-deployment.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1_000

type Chunk = RowOf<typeof findLines>
type TargetRow = RowOf<typeof findLineTargets>

interface NumberedLine extends StoredLine {
  number: number
}

/**
 * Lists lines of a log. An index finds a line by its number, so every offset costs the same. If retention has dropped the first
 * lines, the offset counts from the first stored line. The numbers do not change.
 */
export async function listLogs(db: Queryable, { caller, params, query }: Call<'listDeploymentLogs'>): Promise<Answer> {
  const { id } = await requireVisible(db, caller, 'deployment', params['id'] ?? '')
  const offset = Math.max(0, Number(query.offset ?? 0))
  const limit = Math.min(Math.max(1, Number(query.limit ?? DEFAULT_LIMIT)), MAX_LIMIT)
  const lines = numbered(await readChunks(db, id, offset, limit))
  const [targets, analyses] = await Promise.all([targetsOf(db, id, lines), analysesOf(db, id, lines)])
  return { status: 200, body: lines.map((line) => entryOf(id, line, targets, analyses)) }
}

async function readChunks(db: Queryable, id: string, offset: number, limit: number): Promise<Chunk[]> {
  const { from = null, to = null } = (await findSpan.first(db, { id })) ?? {}
  return findLines.all(db, { id, offset, limit, from, to })
}

const numbered = (chunks: Chunk[]): NumberedLine[] =>
  chunks.flatMap(({ first_line, lines }) => lines.map((line, index) => ({ ...line, number: first_line + index })))

async function targetsOf(db: Queryable, id: string, lines: NumberedLine[]): Promise<Map<number, TargetRow>> {
  const indices = [...new Set(lines.map(({ i }) => i).filter((index) => index !== null))]
  if (indices.length === 0) return new Map()
  const rows = await findLineTargets.all(db, { id, indices })
  return new Map(rows.map((row) => [row.target_index, row]))
}

/** Finds the present analyses of reported failures. A line has only the analysis of the time when it was written. */
async function analysesOf(db: Queryable, id: string, lines: NumberedLine[]): Promise<Map<string, object>> {
  const reports = lines.flatMap(({ x, i, a }) =>
    x?.['analysis'] !== undefined && i !== null && a !== null ? [{ target: i, action: a }] : [],
  )
  if (reports.length === 0) return new Map()
  const rows = await findAnalyses.all(db, {
    id,
    targets: reports.map(({ target }) => target),
    actions: reports.map(({ action }) => action),
  })
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
    analysis:
      analysis === undefined
        ? null
        : // Older lines have the fingerprint in their metadata only. Delete this when retention has dropped them.
          (analyses.get(`${i}/${a}`) ?? { fingerprint: metadata['fingerprint'], ...(analysis as object) }),
  }
}
