import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiWithToken, createAction, createLocalTarget, createSequence } from '@slipway/testing'
import { uptime } from '../clock.ts'
import type { Call } from '../ledger.ts'
import { Random } from '../random.ts'
import { Client } from '../workload/client.ts'
import { type Watch, watchOne } from '../workload/watchers.ts'

/** A slow machine of two cores keeps up with this load. Otherwise requests pile up, and everything grows with them. */
const CREATE_EVERY_MS = 800
const READ_EVERY_MS = 300
const TARGETS = 8
const CHANGE_READERS = 4
/** Readers of changes come and go. */
const CHANGE_STREAM_MS = 45_000
const RECENT = 200

const print = (lines: number) => `printf "%s of the output\\n" ${Array.from({ length: lines }, (_, n) => n).join(' ')}`

const SCRIPTS = { short: print(5), chatty: print(300), slow: `${print(20)}; sleep 1` }

/** Weight, steps and targets of each kind of deployment. */
const KINDS = [
  { weight: 5, steps: ['short'], targets: 1 },
  { weight: 2, steps: ['short', 'chatty'], targets: 6 },
  { weight: 2, steps: ['slow', 'short'], targets: 2 },
] as const

export interface Load {
  /** Calls whose answer is not the one that they must have without a fault. */
  readonly unexpected: Call[]
  /** How many calls of each kind were sent. */
  readonly counts: Record<string, number>
  stop(): Promise<void>
}

/** The data that the calls of the load need. */
export interface LoadOptions {
  urls: readonly string[]
  token: string
  seed: number
  /** Called after each call, with its kind and its milliseconds. */
  onCall: (what: string, milliseconds: number) => void
}

const EXPECTED: Record<string, readonly number[]> = { cancel: [200, 409], create: [201, 202] }

/** Clients that create, cancel, list, read and watch at a steady pace, however fast the answers come. */
export async function startLoad({ urls, token, seed, onCall }: LoadOptions): Promise<Load> {
  const random = new Random(seed)
  const api = apiWithToken(urls[0] as string, token)
  const actions = new Map<string, string>()
  for (const [name, script] of Object.entries(SCRIPTS)) actions.set(name, await createAction(api, { script }, name))
  const kinds: { weight: number; sequence: string; targets: number }[] = []
  for (const { weight, steps, targets } of KINDS) {
    const ids = steps.map((step) => actions.get(step) as string)
    kinds.push({ weight, targets, sequence: await createSequence(api, ids, steps.join(' and ')) })
  }
  const targets: string[] = []
  for (let n = 1; n <= TARGETS; n += 1) targets.push(await createLocalTarget(api, { name: `target-${n}` }))

  const unexpected: Call[] = []
  const counts: Record<string, number> = {}
  const client = new Client(urls, token, {
    add(entry) {
      if (entry.type !== 'call') return
      const what = String(entry.facts['what'] ?? entry.purpose)
      counts[what] = (counts[what] ?? 0) + 1
      onCall(what, entry.answeredAt - entry.sentAt)
      const expected = EXPECTED[entry.purpose] ?? [200]
      if (entry.status === null || !expected.includes(entry.status)) unexpected.push(entry)
    },
  })

  let isGoing = true
  const ender = new AbortController()
  const pending = new Set<Promise<unknown>>()
  const track = (work: Promise<unknown>) => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }
  const recent: string[] = []
  const create = async () => {
    const kind = random.pickWeighted(kinds)
    const first = random.integer(0, TARGETS - kind.targets)
    const body = { sequence_id: kind.sequence, target_ids: targets.slice(first, first + kind.targets) }
    const { status, body: answer } = await client.call('create', 'POST', '/deployments', {
      body,
      key: random.chance(0.5) ? randomUUID() : null,
    })
    if (status !== 201) return
    const id: string = answer.deployment_id
    recent.push(id)
    if (recent.length > RECENT) recent.shift()
    if (random.chance(0.2)) {
      const watch: Watch = watchOne(client, id, new Random(random.seedFor()), () => !isGoing)
      await watch.done
    } else if (random.chance(0.1)) {
      await sleep(random.integer(1, 1_000))
      await client.call('cancel', 'POST', `/deployments/${id}/cancel`)
    }
  }
  const read = async () => {
    const [what, path] = random.pick([
      ['list', `/deployments?limit=50`],
      ['one', recent.length === 0 ? '/deployments?limit=1' : `/deployments/${random.pick(recent)}`],
      [
        'log',
        recent.length === 0 ? '/deployments?limit=1' : `/deployments/${random.pick(recent)}/logs/history?limit=1000`,
      ],
    ] as const)
    await client.call('read', 'GET', path, { facts: { what: `read of ${what}` } })
  }
  const readChanges = async () => {
    while (isGoing) {
      const { status, body } = await client.call('token', 'POST', '/auth/sse-token', { body: {} })
      if (status !== 200) return
      const signal = AbortSignal.any([ender.signal, AbortSignal.timeout(CHANGE_STREAM_MS)])
      const response = await client.stream(`/sse/deployments?sse_token=${body.sse_token}`, random.integer(0, 1), signal)
      try {
        for await (const _ of (response?.body ?? []) as AsyncIterable<Uint8Array>) if (!isGoing) break
      } catch {
        // The end of the time.
      }
    }
  }
  /** Calls at a pace that does not depend on the answers. */
  const pace = async (everyMs: number, work: () => Promise<void>) => {
    for (let next = uptime(); isGoing; next += everyMs) {
      await sleep(Math.max(0, next - uptime()))
      track(work())
    }
  }
  const loops = [
    pace(CREATE_EVERY_MS, create),
    pace(READ_EVERY_MS, read),
    ...Array.from({ length: CHANGE_READERS }, readChanges),
  ]
  return {
    unexpected,
    counts,
    async stop() {
      isGoing = false
      ender.abort()
      await Promise.all(loops)
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
