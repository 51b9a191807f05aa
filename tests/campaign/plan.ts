import { Random } from './random.ts'
import { CLIENT_LINKS, FULL_DISK, INSTANCES, LINKS, PROCESSES, SERVICES, STEPPED_CLOCKS } from './topology.ts'

export const FAMILIES = ['processes', 'servers', 'links', 'disk', 'clock', 'messages', 'clients'] as const
export type Family = (typeof FAMILIES)[number]

export interface FaultKind {
  family: Family
  kind: string
  targets: readonly string[]
  /** How often, compared with the other kinds. */
  weight: number
  /** How long it lasts. Faults of a moment last 0 ms. */
  leastMs: number
  mostMs: number
}

export interface PlannedFault {
  /** Milliseconds after the start of the round. */
  at: number
  family: Family
  kind: string
  target: string
  durationMs: number
}

export interface RoundPlan {
  seed: number
  /** How long clients work and faults come. */
  workMs: number
  faults: PlannedFault[]
  /** The seed of the clients. */
  workloadSeed: number
}

const MOMENT = { leastMs: 0, mostMs: 0 }

export const KINDS: readonly FaultKind[] = [
  { family: 'processes', kind: 'kill -9', targets: PROCESSES, weight: 7, leastMs: 50, mostMs: 3_000 },
  { family: 'processes', kind: 'SIGTERM', targets: PROCESSES, weight: 3, leastMs: 50, mostMs: 2_000 },
  { family: 'processes', kind: 'SIGSTOP', targets: SERVICES, weight: 2, leastMs: 1_000, mostMs: 40_000 },
  { family: 'processes', kind: 'SIGSTOP', targets: INSTANCES, weight: 1, leastMs: 1_000, mostMs: 40_000 },
  { family: 'servers', kind: 'restart, fast', targets: ['postgres'], weight: 0.6, ...MOMENT },
  { family: 'servers', kind: 'restart, immediate', targets: ['postgres'], weight: 0.6, ...MOMENT },
  { family: 'servers', kind: 'connections killed', targets: ['postgres'], weight: 2, ...MOMENT },
  { family: 'servers', kind: 'some connections killed', targets: ['postgres'], weight: 2, ...MOMENT },
  { family: 'servers', kind: 'restart', targets: ['rabbitmq'], weight: 0.4, ...MOMENT },
  { family: 'servers', kind: 'restart, empty', targets: ['rabbitmq'], weight: 0.3, ...MOMENT },
  { family: 'servers', kind: 'queues deleted', targets: ['rabbitmq'], weight: 0.7, ...MOMENT },
  { family: 'servers', kind: 'messages lost', targets: ['rabbitmq'], weight: 1, leastMs: 200, mostMs: 3_000 },
  { family: 'servers', kind: 'restart, empty', targets: ['redis'], weight: 1, leastMs: 50, mostMs: 4_000 },
  { family: 'servers', kind: 'flushed', targets: ['redis'], weight: 2, ...MOMENT },
  { family: 'links', kind: 'delayed', targets: LINKS, weight: 10, leastMs: 500, mostMs: 6_000 },
  { family: 'links', kind: 'silent', targets: LINKS, weight: 8, leastMs: 500, mostMs: 15_000 },
  { family: 'links', kind: 'silent, then lost', targets: LINKS, weight: 8, leastMs: 500, mostMs: 15_000 },
  { family: 'links', kind: 'half-open', targets: LINKS, weight: 8, ...MOMENT },
  { family: 'links', kind: 'cut in the middle of a message', targets: LINKS, weight: 8, ...MOMENT },
  { family: 'links', kind: 'reset', targets: LINKS, weight: 10, ...MOMENT },
  { family: 'links', kind: 'refused', targets: LINKS, weight: 8, leastMs: 200, mostMs: 6_000 },
  { family: 'disk', kind: 'full', targets: [FULL_DISK], weight: 2, leastMs: 1_000, mostMs: 12_000 },
  { family: 'clock', kind: 'forward', targets: STEPPED_CLOCKS, weight: 3, leastMs: 1_500, mostMs: 20_000 },
  { family: 'clock', kind: 'back', targets: STEPPED_CLOCKS, weight: 3, leastMs: 1_500, mostMs: 20_000 },
  {
    family: 'messages',
    kind: 'repeated and reordered',
    targets: ['rabbitmq'],
    weight: 3,
    leastMs: 1_000,
    mostMs: 8_000,
  },
  { family: 'messages', kind: 'garbage', targets: ['rabbitmq'], weight: 3, ...MOMENT },
  { family: 'clients', kind: 'vanish', targets: CLIENT_LINKS, weight: 4, ...MOMENT },
  { family: 'clients', kind: 'do not read', targets: CLIENT_LINKS, weight: 4, leastMs: 1_000, mostMs: 15_000 },
]

export interface PlanOptions {
  workMs: number
  faults: number
  kinds?: readonly FaultKind[]
}

/** The faults of one round, in the order of time. The same seed gives the same plan. */
export function planRound(seed: number, { workMs, faults, kinds = KINDS }: PlanOptions): RoundPlan {
  const random = new Random(seed)
  const workloadSeed = random.seedFor()
  const busyUntil = new Map<string, number>()
  const planned: PlannedFault[] = []
  // Some clients work before the first fault.
  const times = Array.from({ length: faults }, () => random.integer(1_500, workMs)).sort((a, b) => a - b)
  for (const at of times) {
    const { family, kind, targets, leastMs, mostMs } = random.pickWeighted(kinds)
    const target = random.pick(targets)
    const durationMs = mostMs === 0 ? 0 : random.logarithmic(leastMs, mostMs)
    // Two faults of a family on the same target would end each other.
    const place = `${family} ${target}`
    if ((busyUntil.get(place) ?? 0) > at) continue
    busyUntil.set(place, at + durationMs + 1_000)
    planned.push({ at, family, kind, target, durationMs })
  }
  return { seed, workMs, faults: planned, workloadSeed }
}
