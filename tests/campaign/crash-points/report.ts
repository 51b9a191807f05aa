import { describePlace } from '../report.ts'
import { table } from '../table.ts'
import type { CellResult } from './runner.ts'

export interface Results {
  started_at: string
  seconds: number
  hits: number
  cells: CellResult[]
}

/** The kills by the part of a deployment's life, and by the process that is killed. */
export function describeCrashPoints({ seconds, cells }: Results): string {
  const services = [...new Set(cells.map(({ service }) => service))]
  const total = (some: readonly CellResult[]) => some.reduce((sum, { hits }) => sum + hits, 0)
  const rows = [...new Set(cells.map(({ way }) => way))].map((way) => {
    const own = cells.filter((cell) => cell.way === way)
    const counts = services.map((service) => own.filter((cell) => cell.service === service).length)
    const violated = own.filter(({ violations }) => violations.length > 0).length
    return [way, ...counts.map((count) => (count === 0 ? '' : String(count))), String(total(own)), String(violated)]
  })
  const violations = [...new Set(cells.flatMap((cell) => cell.violations))]
  const [kills, minutes] = [total(cells).toLocaleString('en-US'), Math.round(seconds / 60)]
  const sentence = `${cells.length} cells, ${kills} kills in ${minutes} minutes, ${violations.length} violations; ${describePlace()}.`
  const list = violations.map((violation) => `- ${violation}`).join('\n')
  const cellsByWay = table(['way', ...services, 'kills', 'cells with a violation'], rows)
  return [sentence, cellsByWay, list].filter((part) => part !== '').join('\n\n')
}
