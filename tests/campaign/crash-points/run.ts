// `make crash-points`: kills each process at each failpoint under load, HITS times, and writes the violations found.
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'
import { CELLS } from './cells.ts'
import { describeCrashPoints, type Results } from './report.ts'
import { type CellResult, runCrashPoints } from './runner.ts'

const file = path.join(repositoryRoot, '.slipway/campaign/crash-points.json')
const hits = Number(process.env['HITS'] ?? 20)
const wanted = new RegExp(process.env['CELLS'] ?? '')
const startedAt = Date.now()
/** With RESUME=1 the run continues the last one, which was ended before all cells had their hits. */
const earlier: Results | null = process.env['RESUME'] ? JSON.parse(fs.readFileSync(file, 'utf8')) : null

const isComplete = (cell: CellResult) => cell.hits >= hits
const violationsOf = (cells: readonly CellResult[]) => new Set(cells.flatMap(({ violations }) => violations))

function write(cells: readonly CellResult[]): void {
  const seconds = Math.round((Date.now() - startedAt) / 1_000) + (earlier?.seconds ?? 0)
  const started_at = earlier?.started_at ?? new Date(startedAt).toISOString()
  const results: Results = { started_at, seconds, hits, cells: [...cells] }
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  const done = cells.filter(isComplete).length
  const total = cells.reduce((sum, cell) => sum + cell.hits, 0)
  console.log(`${seconds} s: ${total} hits, ${done} of ${cells.length} cells, ${violationsOf(cells).size} violations`)
}

const cells = await runCrashPoints({
  cells: CELLS.filter(({ way, name }) => wanted.test(`${way} ${name}`)),
  hits,
  onBatch: write,
  ...(earlier ? { earlier: earlier.cells } : {}),
})
write(cells)
console.log(describeCrashPoints(JSON.parse(fs.readFileSync(file, 'utf8'))))
const missed = cells.filter((cell) => !isComplete(cell))
for (const cell of missed) console.log(`${cell.name} was hit ${cell.hits} times, not ${hits}`)
for (const violation of violationsOf(cells)) console.log(violation)
process.exitCode = missed.length > 0 || violationsOf(cells).size > 0 ? 1 : 0
