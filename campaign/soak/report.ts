import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'
import { table, writeSection } from '../page.ts'
import { type JudgedSeries, NEGLIGIBLE, type Unit } from './series.ts'

/** Shorter soaks are too short to be published. */
const PUBLISHED_MINUTES = 30
const PUBLISHED = path.join(import.meta.dirname, '../results/soak.json')
const TRIED = path.join(repositoryRoot, '.slipway/campaign/soak.json')

export interface SoakRecord {
  at: string
  seed: number
  cores: number
  /** The average of the last 15 minutes. */
  load: number
  minutes: number
  /** Minutes that were not judged. */
  warmUp: number
  /** How many calls of each kind. */
  calls: Record<string, number>
  /** Events that the webhook received. */
  delivered: number
  /** Answers that must not occur without a fault. */
  unexpected: string[]
  /** Processes that ended by themselves or with an error. */
  ended: string[]
  series: JudgedSeries[]
}

export const recordSoak = (soak: Omit<SoakRecord, 'at' | 'cores' | 'load'>): SoakRecord => ({
  at: new Date().toISOString().slice(0, 16),
  cores: os.cpus().length,
  load: Math.round((os.loadavg()[2] ?? 0) * 10) / 10,
  ...soak,
  // The interval of a flat series describes it completely, so its minutes are left out.
  series: soak.series
    .map((one) => (one.verdict === 'flat' || !one.isJudged ? { ...one, windows: [] } : one))
    .sort((a, b) => a.place.localeCompare(b.place) || a.name.localeCompare(b.name)),
})

/** A trial replaces neither the results nor the page of a whole soak. */
export function saveSoak(record: SoakRecord): void {
  const isPublished = record.minutes >= PUBLISHED_MINUTES
  const file = isPublished ? PUBLISHED : TRIED
  fs.mkdirSync(path.dirname(file), { recursive: true })
  // More digits are noise.
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  fs.writeFileSync(file, `${JSON.stringify(record, rounded)}\n`)
  if (!isPublished) return
  execFileSync('node_modules/.bin/biome', ['format', '--write', file], { cwd: repositoryRoot, stdio: 'ignore' })
  writeSection('soak', soakText(record))
}

const MIB = 1024 * 1024

function amount(value: number, unit: Unit): string {
  if (unit === 'bytes') return `${(value / MIB).toFixed(1)} MiB`
  const digits = Math.abs(value) >= 100 ? 0 : 1
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits })}${unit === 'count' ? '' : ` ${unit}`}`
}

const HEAD = ['of', 'what', 'mean', 'in an hour', 'interval', 'verdict']

function rows(series: readonly JudgedSeries[]): string[][] {
  return series.map(({ place, name, unit, mean, slope, low, high, verdict }) => [
    ...[place, name, amount(mean, unit), amount(slope, unit)],
    ...[`${amount(low, unit)} to ${amount(high, unit)}`, verdict],
  ])
}

function soakText(record: SoakRecord): string {
  const judged = record.series.filter(({ isJudged }) => isJudged)
  const others = record.series.filter(({ isJudged, mean }) => !isJudged && mean > 0)
  const counted = (verdict: JudgedSeries['verdict']) => judged.filter((one) => one.verdict === verdict).length
  const hasTrend = judged.filter(({ verdict }) => verdict !== 'flat')
  // Series that never changed are left out of the table.
  const flat = judged.filter(({ verdict, low, high }) => verdict === 'flat' && (low !== 0 || high !== 0))
  const calls = Object.entries(record.calls).map(([what, count]) => `${count.toLocaleString('en-US')} ${what}`)
  const small = Object.entries(NEGLIGIBLE).map(
    ([unit, { part, least }]) => `${part * 100} % or ${amount(least, unit as Unit)}`,
  )
  return [
    `The soak of ${record.at.slice(0, 10)}: ${record.minutes} minutes, of which the first ${record.warmUp} are not judged, on ${record.cores} ` +
      `cores with a load of ${record.load}.\nCalls: ${calls.join(', ')}; ${record.delivered.toLocaleString('en-US')} events delivered; ` +
      `${record.unexpected.length} unexpected answers; ${record.ended.length} processes ended.`,
    table(
      ['series', 'number'],
      [
        ['flat', String(counted('flat'))],
        ['of these always the same', String(counted('flat') - flat.length)],
        ['**growing**', `**${counted('growing')}**`],
        ['shrinking', String(counted('shrinking'))],
        ['too short', String(counted('too short'))],
      ],
    ),
    `Negligible in an hour, the larger of each pair: ${[...new Set(small)].join('; ')}.`,
    ...(hasTrend.length === 0 ? [] : [table(HEAD, rows(hasTrend))]),
    table(HEAD, rows(flat)),
    'Not judged: history, which grows with the work that was done until retention takes it away, and the compiled code of each process:',
    table(HEAD, rows(others)),
  ].join('\n\n')
}
