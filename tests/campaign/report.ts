// What a campaign found, as text: the figures of docs/resilience.md, the violations, and how long each kind of fault lasted.
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import { repositoryRoot } from '@slipway/testing'
import type { RoundResult } from './round.ts'
import { table } from './table.ts'

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const count = (value: number) => value.toLocaleString('en-US')
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/** The commit and the machine of a run, without the name of the host. */
export function describePlace(): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: repositoryRoot, encoding: 'utf8' })
  const load = (os.loadavg()[2] ?? 0).toFixed(1)
  return `commit ${commit.trim()}, ${os.cpus().length} cores with a load of ${load}, Node ${process.version}`
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

export function describeCampaign(seed: number, minutes: number, rounds: readonly RoundResult[]): string {
  const violations = rounds.flatMap((round) => round.violations)
  return [
    `Seed ${seed}, ${Math.round(minutes)} minutes, ${describePlace()}.`,
    table(['what', 'number'], figures(rounds)),
    violations.length === 0 ? 'No round violated an invariant.' : violationTable(rounds),
    // How long no create succeeded after a fault. Other faults are active meanwhile, so each time is an upper bound.
    table(['family', 'fault', 'on', 'faults', 'median', 'worst', 'not measured'], faultRows(rounds)),
  ].join('\n\n')
}

function figures(rounds: readonly RoundResult[]): string[][] {
  const sum = (of: (round: RoundResult) => number) => count(rounds.reduce((total, round) => total + of(round), 0))
  const violations = rounds.flatMap((round) => round.violations)
  const rests = rounds.map(({ restMs }) => restMs)
  const killed = rounds
    .flatMap((round) => round.faults)
    .flatMap(({ kind, target, recoveryMs }) =>
      kind === 'kill -9' && !target.startsWith('orchestration-instance') && recoveryMs !== null ? [recoveryMs] : [],
    )
  return [
    ['rounds', count(rounds.length)],
    ['faults', sum(({ faults }) => faults.length)],
    ['calls', sum(({ calls }) => calls)],
    ['creates sent', sum(({ creates }) => creates)],
    ['creates answered with 201 or 202', sum(({ accepted }) => accepted)],
    ['deployments', sum(({ deployments }) => deployments)],
    ['starts of commands', sum(({ starts }) => starts)],
    ['lines', sum(({ lines }) => lines)],
    ['log streams followed to their end', sum(({ streams }) => streams)],
    ...VERDICTS.map(([what, invariants, sentence]) => [
      what,
      count(violations.filter((one) => invariants.includes(one.invariant) && sentence.test(one.sentence)).length),
    ]),
    ['violations of any invariant', count(violations.length)],
    ['processes that ended by themselves', sum(({ exits }) => exits.length)],
    ['from `kill -9` of a service until a create succeeds: median', seconds(median(killed))],
    ['from `kill -9` of a service until a create succeeds: worst', seconds(Math.max(0, ...killed))],
    ['from the last fault until all had ended: median', seconds(median(rests))],
    ['from the last fault until all had ended: worst', seconds(Math.max(0, ...rests))],
  ]
}

function violationTable(rounds: readonly RoundResult[]): string {
  const found = new Map<string, { row: [string, string]; count: number; seeds: Set<number> }>()
  for (const { seed, violations } of rounds) {
    for (const { invariant, sentence } of violations) {
      const key = `${invariant} ${sentence}`
      const known = found.get(key) ?? { row: [invariant, sentence], count: 0, seeds: new Set<number>() }
      found.set(key, { ...known, count: known.count + 1, seeds: known.seeds.add(seed) })
    }
  }
  const rows = [...found.values()].map(({ row, count, seeds }) => [...row, String(count), [...seeds].join(' ')])
  return table(['invariant', 'sentence', 'times', 'seeds of rounds'], rows)
}

/** A process by its service, so that replicas count together. */
const groupOf = (target: string) => target.replace(/-[23](?=>|$)/g, '')

function faultRows(rounds: readonly RoundResult[]): string[][] {
  const groups = new Map<string, { names: [string, string, string]; recoveries: (number | null)[] }>()
  for (const { family, kind, target, recoveryMs } of rounds.flatMap((round) => round.faults)) {
    // Links are as many as pairs: they count by kind alone.
    const names: [string, string, string] = [family, kind, family === 'links' ? 'any link' : groupOf(target)]
    const key = names.join('\t')
    const known = groups.get(key) ?? { names, recoveries: [] }
    groups.set(key, { names, recoveries: [...known.recoveries, recoveryMs] })
  }
  return [...groups.values()]
    .sort((a, b) => a.names[0].localeCompare(b.names[0]) || b.recoveries.length - a.recoveries.length)
    .map(({ names, recoveries }) => {
      const measured = recoveries.filter((ms) => ms !== null)
      const times = measured.length === 0 ? ['–', '–'] : [seconds(median(measured)), seconds(Math.max(...measured))]
      return [...names, String(recoveries.length), ...times, String(recoveries.length - measured.length)]
    })
}
