import { setTimeout as sleep } from 'node:timers/promises'
import type { Ledger } from '../ledger.ts'
import { Random } from '../random.ts'
import type { CampaignSuite } from '../suite.ts'
import { cancelOne } from './cancels.ts'
import { type Catalog, SHAPES } from './catalog.ts'
import { Client } from './client.ts'
import { createOne } from './creates.ts'
import { createFrozen, readAsForeigner } from './outsiders.ts'
import { redeployOne } from './redeploys.ts'
import { type Watch, watchOne } from './watchers.ts'

const PROBE_EVERY_MS = 400
const MOST_PROBES = 40
const MOST_WATCHES = 12
/** Longer backlogs only make the end of the round later. */
const MOST_UNFINISHED = 60
const COUNT_EVERY_MS = 700

export interface Workload {
  readonly client: Client
  readonly watches: readonly Watch[]
  /** Ends the clients that change data. Streams go on. */
  stop(): Promise<void>
  /** Ends the streams. */
  stopWatching(): Promise<void>
}

export function startWorkload(options: {
  campaign: CampaignSuite
  catalog: Catalog
  ledger: Ledger
  seed: number
  /** How many clients create deployments. */
  clients: number
  /** See RoundOptions. */
  patience: number
  countUnfinished: () => Promise<number>
}): Workload {
  const { campaign, catalog, ledger, patience, countUnfinished } = options
  const random = new Random(options.seed)
  const client = new Client(campaign.urls, campaign.apiKey, ledger, patience)
  const foreigner = new Client(campaign.urls, catalog.foreignKey, ledger, patience)
  const watches: Watch[] = []
  const pending = new Set<Promise<unknown>>()
  let isGoing = true
  let isWatched = true
  let unfinished = 0

  const track = (work: Promise<unknown>) => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }
  const follow = (id: string) => {
    if (watches.filter(({ hasEnded }) => !hasEnded).length >= MOST_WATCHES) return
    watches.push(watchOne(client, id, new Random(random.seedFor()), () => !isWatched))
  }

  let lastCreated: string | undefined
  const repeat = async (act: (own: Random) => Promise<void>) => {
    const own = new Random(random.seedFor())
    while (isGoing) await act(own)
  }
  const create = async (own: Random) => {
    while (isGoing) {
      if (unfinished > MOST_UNFINISHED) {
        await sleep(200)
        continue
      }
      const accepted = await createOne(client, catalog, own)
      if (accepted !== null) {
        lastCreated = accepted.id
        if (accepted.isStarted && own.chance(0.3)) follow(accepted.id)
        if (own.chance(0.15)) track(cancelOne(client, accepted, own))
        else if (own.chance(0.1)) track(redeployOne(client, accepted, own))
      }
      await sleep(own.integer(20, 400))
    }
  }
  /** Small creates at a steady pace, which show when creates succeed again. */
  const probe = async (own: Random) => {
    const [shape] = SHAPES
    let waiting = 0
    while (isGoing) {
      if (waiting < MOST_PROBES) {
        waiting += 1
        track(createOne(client, catalog, own, shape).finally(() => (waiting -= 1)))
      }
      await sleep(PROBE_EVERY_MS)
    }
  }
  const count = async () => {
    while (isGoing) {
      // While Postgres is down the backlog cannot grow.
      unfinished = await countUnfinished().catch(() => unfinished)
      await sleep(COUNT_EVERY_MS)
    }
  }
  const loops = [
    ...Array.from({ length: options.clients }, () => create(new Random(random.seedFor()))),
    probe(new Random(random.seedFor())),
    count(),
    repeat((own) => readAsForeigner(foreigner, own, () => lastCreated)),
    repeat((own) => createFrozen(client, catalog, own)),
  ]
  return {
    client,
    watches,
    async stop() {
      isGoing = false
      await Promise.all(loops)
      while (pending.size > 0) await Promise.all(pending)
    },
    async stopWatching() {
      isWatched = false
      await Promise.all(watches.map(({ done }) => done))
    },
  }
}
