// Writes the results of the campaign into docs/resilience.md. Of several runs the one with the most faults counts.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { table, writeSection } from './page.ts'
import type { RoundResult } from './round.ts'

const FOLDER = path.join(import.meta.dirname, 'results/runs')

interface KindResult {
  family: string
  kind: string
  target: string
  faults: number
  /** Milliseconds until a create succeeded that was sent after the fault. Null if none did in any round. */
  medianMs: number | null
  worstMs: number | null
  /** Faults after which no create succeeded in their round, for example because the round ended. */
  unmeasured: number
}

export interface Recorded {
  at: string
  seed: number
  cores: number
  load: number
  minutes: number
  rounds: number
  faults: number
  creates: number
  accepted: number
  deployments: number
  starts: number
  lines: number
  streams: number
  calls: number
  medianRestMs: number
  worstRestMs: number
  exits: number
  /** Until a create succeeds after `kill -9` of a service, with its other replica alive or not. */
  killedServices: { faults: number; medianMs: number; worstMs: number }
  violations: { invariant: string; sentence: string; count: number; seeds: string }[]
  kinds: KindResult[]
}

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** A process by its service, so that replicas count together; a link by both its ends. */
const groupOf = (target: string) => target.replace(/-[23](?=>|$)/g, '')

export function recordCampaign(seed: number, minutes: number, rounds: RoundResult[]): Recorded {
  const sum = (of: (round: RoundResult) => number) => rounds.reduce((total, round) => total + of(round), 0)
  const faults = rounds.flatMap((round) => round.faults)
  const groups = new Map<string, typeof faults>()
  for (const fault of faults) {
    // Links are as many as pairs: they count by kind alone.
    const target = fault.family === 'links' ? 'any link' : groupOf(fault.target)
    const key = [fault.family, fault.kind, target].join('\t')
    groups.set(key, [...(groups.get(key) ?? []), fault])
  }
  const kinds = [...groups].map(([key, own]) => {
    const [family = '', kind = '', target = ''] = key.split('\t')
    const measured = own.flatMap(({ recoveryMs }) => (recoveryMs === null ? [] : [recoveryMs]))
    const isMeasured = measured.length > 0
    return {
      ...{ family, kind, target, faults: own.length },
      medianMs: isMeasured ? median(measured) : null,
      worstMs: isMeasured ? Math.max(...measured) : null,
      unmeasured: own.length - measured.length,
    }
  })
  const killed = faults.flatMap(({ kind, target, recoveryMs }) =>
    kind === 'kill -9' && !target.startsWith('orchestration-instance') && recoveryMs !== null ? [recoveryMs] : [],
  )
  const violations = new Map<string, { invariant: string; sentence: string; count: number; seeds: string }>()
  for (const round of rounds) {
    for (const { invariant, sentence } of round.violations) {
      const key = `${invariant} ${sentence}`
      const before = violations.get(key)
      const seeds = before?.seeds.includes(String(round.seed))
        ? before.seeds
        : `${before?.seeds ?? ''} ${round.seed}`.trim()
      violations.set(key, { invariant, sentence, count: (before?.count ?? 0) + 1, seeds })
    }
  }
  return {
    at: new Date().toISOString().slice(0, 16),
    seed,
    cores: os.cpus().length,
    load: Math.round((os.loadavg()[2] ?? 0) * 10) / 10,
    minutes: Math.round(minutes),
    rounds: rounds.length,
    faults: faults.length,
    creates: sum(({ creates }) => creates),
    accepted: sum(({ accepted }) => accepted),
    deployments: sum(({ deployments }) => deployments),
    starts: sum(({ starts }) => starts),
    lines: sum(({ lines }) => lines),
    streams: sum(({ streams }) => streams),
    calls: sum(({ calls }) => calls),
    medianRestMs: median(rounds.map(({ restMs }) => restMs)),
    worstRestMs: Math.max(...rounds.map(({ restMs }) => restMs)),
    exits: sum(({ exits }) => exits.length),
    killedServices: { faults: killed.length, medianMs: median(killed), worstMs: Math.max(0, ...killed) },
    violations: [...violations.values()],
    kinds: kinds.sort(
      (a, b) => a.family.localeCompare(b.family) || b.faults - a.faults || a.target.localeCompare(b.target),
    ),
  }
}

export function saveRecord(record: Recorded): void {
  fs.mkdirSync(FOLDER, { recursive: true })
  const name = `${record.at.replace(':', '')}.json`
  fs.writeFileSync(path.join(FOLDER, name), `${JSON.stringify(record, null, 2)}\n`)
}

/** Invariants about accepted work that is lost, is done twice, or never ends. */
const VERDICTS: [what: string, invariants: string[], sentence: RegExp][] = [
  ['accepted creates lost', ['I1', 'I4'], /leaves its deployment|ends dispatched/],
  ['creates doubled', ['I1'], /leaves one deployment|have the same answer|without a call/],
  ['deployments or requests stuck', ['I2'], /stuck|final state/],
  ['commands started too often, or twice at a time', ['I6', 'I7'], /./],
  ['lines lost, doubled or invented', ['I19'], /./],
  ['streams with a gap, a repetition or a wrong end', ['I20'], /./],
]

export function writeReport(): void {
  const records = fs
    .readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(fs.readFileSync(path.join(FOLDER, name), 'utf8')) as Recorded)
  const record = records.sort((a, b) => b.faults - a.faults)[0]
  if (record !== undefined) writeSection('results', tables(record))
}

function tables(record: Recorded): string {
  const count = (value: number) => value.toLocaleString('en-US')
  const seconds = (ms: number | null) => (ms === null ? '–' : `${(ms / 1_000).toFixed(1)} s`)
  const failed = (invariants: string[], sentence: RegExp) =>
    record.violations
      .filter((one) => invariants.includes(one.invariant) && sentence.test(one.sentence))
      .reduce((total, one) => total + one.count, 0)
  const seen = [
    ['rounds', count(record.rounds)],
    ['faults', count(record.faults)],
    ['calls', count(record.calls)],
    ['creates sent', count(record.creates)],
    ['creates answered with 201 or 202', count(record.accepted)],
    ['deployments', count(record.deployments)],
    ['starts of commands', count(record.starts)],
    ['lines', count(record.lines)],
    ['log streams followed to their end', count(record.streams)],
    ...VERDICTS.map(([what, invariants, sentence]) => [`**${what}**`, `**${failed(invariants, sentence)}**`]),
    ['violations of any invariant', String(record.violations.reduce((total, { count }) => total + count, 0))],
    ['processes that ended by themselves', String(record.exits)],
    ['from `kill -9` of a service until a create succeeds: median', seconds(record.killedServices.medianMs)],
    ['from `kill -9` of a service until a create succeeds: worst', seconds(record.killedServices.worstMs)],
    ['from the last fault until all had ended: median', seconds(record.medianRestMs)],
    ['from the last fault until all had ended: worst', seconds(record.worstRestMs)],
  ]
  const kinds = record.kinds.map(({ family, kind, target, faults, medianMs, worstMs, unmeasured }) => [
    ...[
      family,
      kind,
      target,
      String(faults),
      seconds(medianMs),
      seconds(worstMs),
      unmeasured === 0 ? '' : String(unmeasured),
    ],
  ])
  const found =
    record.violations.length === 0
      ? 'No round violated an invariant.'
      : table(
          ['invariant', 'sentence', 'times', 'seeds of rounds'],
          record.violations.map(({ invariant, sentence, count, seeds }) => [invariant, sentence, String(count), seeds]),
        )
  return [
    `The run of ${record.at.slice(0, 10)}: ${record.minutes} minutes, seed ${record.seed}, on ${record.cores} cores with a load of ${record.load}.`,
    table(['what', 'number'], seen),
    found,
    table(['family', 'fault', 'on', 'faults', 'median', 'worst', 'not measured'], kinds),
  ].join('\n\n')
}
