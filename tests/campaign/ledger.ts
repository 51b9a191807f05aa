import fs from 'node:fs'

/** A call of a client, with its answer. */
export interface Call {
  type: 'call'
  /** The intention of the client. */
  purpose:
    | 'create'
    | 'cancel'
    | 'cancel pending'
    | 'redeploy'
    | 'frozen create'
    | 'foreign read'
    | 'read'
    | 'token'
    | 'webhook'
  gateway: number
  method: string
  path: string
  requestId: string
  /** Its Idempotency-Key. */
  key: string | null
  sentAt: number
  answeredAt: number
  /** Null without an answer. */
  status: number | null
  /** The code of an error. */
  code: string | null
  message: string | null
  /** The deployment or request that the answer names. */
  id: string | null
  /** Further facts of the client. */
  facts: Record<string, unknown>
}

/** An event that a client received in a stream. */
export interface Seen {
  type: 'seen'
  deployment: string
  at: number
  event: 'line' | 'state' | 'progress' | 'end'
  /** The number of the line. */
  seq: number | null
  text: string
}

export interface ProcessExit {
  type: 'exit'
  process: string
  at: number
  code: number | string
}

export interface Injected {
  type: 'fault'
  family: string
  kind: string
  target: string
  at: number
  healedAt: number
  isInjected: boolean
  note: string
}

export type Entry = Call | Seen | ProcessExit | Injected

/** The record of what clients and nemesis did and saw: in memory for the oracle, on disk for people. */
export class Ledger {
  readonly calls: Call[] = []
  readonly seen: Seen[] = []
  readonly exits: ProcessExit[] = []
  readonly faults: Injected[] = []
  readonly #file: fs.WriteStream

  constructor(path: string) {
    this.#file = fs.createWriteStream(path, { flags: 'a' })
  }

  add(entry: Entry): void {
    if (entry.type === 'call') this.calls.push(entry)
    else if (entry.type === 'seen') this.seen.push(entry)
    else if (entry.type === 'exit') this.exits.push(entry)
    else this.faults.push(entry)
    this.#file.write(`${JSON.stringify(entry)}\n`)
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#file.end(() => resolve()))
  }
}
