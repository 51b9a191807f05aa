import type { Ledger } from '../ledger.ts'
import type { Marker } from './markers.ts'
import type { Tables } from './tables.ts'

/** The input of the oracle. It uses no code of the product. */
export interface Evidence {
  ledger: Ledger
  markers: Marker[]
  tables: Tables
  /** The number of messages in each durable queue of RabbitMQ; null for a queue that does not exist. */
  queues: Record<string, number | null>
  /** The contents of the dead letters, in base64. */
  deadLetters: string[]
  /** The contents of the messages without meaning that the nemesis sent, in base64. They belong into the dead letters. */
  garbage: ReadonlySet<string>
  /** Deployments that a client watched. */
  watches: { deployment: string; hasEnded: boolean }[]
  capacity: number
  /** How many times longer something may take than on an idle machine. */
  patience: number
  /** Calls of the webhook: the id of the message, and the deployment whose end it reports. */
  delivered: { id: string; deployment: string }[]
}

export interface Violation {
  invariant: string
  sentence: string
  ids: string[]
  evidence: unknown
}

export type Check = (evidence: Evidence) => Violation[]

export const FINAL_STATES: ReadonlySet<string> = new Set(['success', 'failed', 'cancelled', 'rolled_back'])

/** Collects violations of one sentence, at most a few of them with their evidence. */
export class Findings {
  readonly #found: Violation[] = []

  add(invariant: string, sentence: string, ids: string[], evidence: unknown): void {
    this.#found.push({ invariant, sentence, ids, evidence })
  }

  unless(holds: boolean, invariant: string, sentence: string, ids: string[], evidence: unknown): void {
    if (!holds) this.add(invariant, sentence, ids, evidence)
  }

  get all(): Violation[] {
    return this.#found
  }
}

/** Puts the items of each key together, in their order. */
export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
