import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '@slipway/database'
import {
  type Answer,
  type Api,
  apiWithToken,
  createAction,
  createLocalTargets,
  createSequence,
  isUnavailable,
  loginToSuite,
  type Suite,
  waitFor,
} from '@slipway/testing'

const CLIENTS = 4
/** Limits on unfinished work, used in turn. Below the number of slots requests start at once; above it they wait. */
const MOST_UNFINISHED = [3, 9]
const TURN_MS = 4_000
/** An instance that dies in a command uses up an attempt of its step. */
const RETRIES = 10
const RETRY_MS = 200
const DISPATCH_MS = 10_000
const GIVE_UP_MS = 60_000

export type Kind = 'plain' | 'failing'

interface Told {
  kind: Kind
  /** `asked`: the answer to a cancel was lost. */
  cancel: 'none' | 'asked' | 'done'
}

interface Created {
  id: string
  /** Whether it is a deployment, not a pending request. */
  started: boolean
}

/** Clients that create and cancel deployments, drain an instance, and remember the answers. */
export class Load {
  /** The deployments and requests that answers named. */
  readonly told = new Map<string, Told>()
  /** Answers that must not occur. */
  readonly wrong: string[] = []
  readonly markerFile: string
  readonly #apis: readonly Api[]
  readonly #database: Queryable
  readonly #bodies: Record<Kind, object>
  readonly #instance: string
  #going = false
  #unfinished = 0
  #done: Promise<unknown> = Promise.resolve()

  private constructor(made: {
    apis: Api[]
    database: Queryable
    folder: string
    bodies: Record<Kind, object>
    instance: string
  }) {
    this.#apis = made.apis
    this.#database = made.database
    this.#bodies = made.bodies
    this.#instance = made.instance
    this.markerFile = path.join(made.folder, 'markers')
  }

  static async create(suite: Suite, database: Queryable): Promise<Load> {
    const api = await loginToSuite(suite)
    const folder = fs.mkdtempSync(path.join(suite.folder, 'markers-'))
    fs.writeFileSync(path.join(folder, 'markers'), '')
    const rollback = marked('rolled-back', 'sleep 0.05')
    const action = (work: string) => createAction(api, { script: marked('start', work), rollback })
    const [one, two, failing] = [await action('echo one; sleep 0.2'), await action('sleep 0.1'), await action('exit 1')]
    const target_ids = await createLocalTargets(api, 1)
    const common = { target_ids, variables: { folder } }
    const plain = { ...common, max_retries: RETRIES, sequence_id: await createSequence(api, [one, two]) }
    const { body } = await api.get('/admin/instances')
    return new Load({
      apis: [api, apiWithToken(suite.secondUrl, api.token)],
      database,
      folder,
      bodies: {
        plain,
        failing: {
          ...common,
          max_retries: 0,
          sequence_id: await createSequence(api, [two, failing]),
          rollback_strategy: 'all_executed',
        },
      },
      instance: body.data[0].id,
    })
  }

  start(): void {
    this.#going = true
    this.#done = Promise.all([this.#count(), this.#drain(), ...Array.from({ length: CLIENTS }, () => this.#client())])
  }

  async stop(): Promise<void> {
    this.#going = false
    await this.#done
  }

  async #client(): Promise<void> {
    const cancels: Promise<void>[] = []
    for (let n = 0; this.#going; n += 1) {
      const most = MOST_UNFINISHED[Math.floor(Date.now() / TURN_MS) % MOST_UNFINISHED.length] ?? 0
      if (this.#unfinished < most) {
        const created = await this.#create(n % 3 === 2 ? 'failing' : 'plain')
        if (created && n % 5 < 2) cancels.push(this.#cancel(created, n % 5 === 0))
      }
      await sleep(50 + Math.random() * 250)
    }
    await Promise.all(cancels)
  }

  /** Repeats the call under one key until it is answered. */
  async #create(kind: Kind): Promise<Created | null> {
    const key = { 'idempotency-key': randomUUID() }
    const answer = await this.#ask([201, 202], (api) => api.call('POST', '/deployments', this.#bodies[kind], key))
    if (answer === null) return null
    const { deployment_id, pending_request_id } = answer.body
    const id: string = deployment_id ?? pending_request_id
    this.told.set(id, { kind, cancel: 'none' })
    return { id, started: answer.status === 201 }
  }

  /** Cancels a request while it is pending, or the deployment when it runs. */
  async #cancel({ id, started }: Created, atOnce: boolean): Promise<void> {
    const told = this.told.get(id) as Told
    const deployment = started || atOnce ? id : await this.#dispatchedAs(id)
    if (deployment === null) return
    const isPending = !started && atOnce
    const answer = await this.#ask([200, 204, 409], async (api) => {
      const isRepeated = told.cancel === 'asked'
      told.cancel = 'asked'
      const given = isPending
        ? await api.call('DELETE', `/deployments/pending/${id}`)
        : await api.post(`/deployments/${deployment}/cancel`)
      if (!isRepeated && given.status === 409) told.cancel = 'none'
      return given
    })
    if (answer && answer.status !== 409) told.cancel = 'done'
  }

  /** The deployment of a request; null if it does not run soon. */
  async #dispatchedAs(id: string): Promise<string | null> {
    const statement = `SELECT deployment_id AS id FROM pending_requests WHERE id = $1 AND deployment_id IS NOT NULL`
    const find = async () => (await this.#database.query<{ id: string }>(statement, [id])).rows[0]?.id
    return waitFor(find, { timeoutMs: DISPATCH_MS }).catch(() => null)
  }

  async #drain(): Promise<void> {
    for (let draining = true; this.#going || !draining; draining = !draining) {
      await this.#ask([200], (api) => api.call('PATCH', `/admin/instances/${this.#instance}`, { draining }))
      await sleep(draining ? 150 : 400)
    }
  }

  async #count(): Promise<void> {
    while (this.#going) {
      this.#unfinished = await countUnfinished(this.#database)
      await sleep(100)
    }
  }

  /**
   * Calls one of the gateways until the answer is one of the known ones. A gateway may be gone, or say 503. On a busy machine,
   * Postgres may accept a connection too late.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the callers know the form of the answers
  async #ask(known: readonly number[], call: (api: Api) => Promise<Answer<any>>): Promise<Answer<any> | null> {
    const until = Date.now() + GIVE_UP_MS
    for (let n = Math.round(Math.random()); Date.now() < until; n += 1) {
      const answer = await call(this.#apis[n % 2] as Api).catch(() => null)
      if (answer && known.includes(answer.status)) return answer
      if (answer && answer.status !== 503 && !isUnavailable(answer.body)) {
        this.wrong.push(`${answer.status} ${JSON.stringify(answer.body)}`)
        return null
      }
      await sleep(RETRY_MS)
    }
    this.wrong.push(`a call was not answered within ${GIVE_UP_MS} ms`)
    return null
  }
}

/** A command that records its start and end, and whether another attempt of its step is still alive. */
const marked = (what: 'start' | 'rolled-back', work: string) =>
  [
    `step="$SLIPWAY_DEPLOYMENT_ID/$SLIPWAY_STEP"`,
    `note() { echo "$1 $step $SLIPWAY_ATTEMPT" >> "$SLIPWAY_VAR_FOLDER/markers"; }`,
    // All processes of the command inherit the lock, so it is free only after all of them have ended.
    `exec 9>> "$SLIPWAY_VAR_FOLDER/$SLIPWAY_DEPLOYMENT_ID-$SLIPWAY_STEP"`,
    `flock -n 9 || note overlap`,
    `note ${what}`,
    ...(what === 'start' ? ['echo attempt "$SLIPWAY_ATTEMPT"'] : []),
    work,
    'note end',
  ].join('\n')

/** How many deployments and requests have not ended. */
export async function countUnfinished(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    `SELECT ((SELECT count(*) FROM deployments WHERE completed_at IS NULL)
           + (SELECT count(*) FROM pending_requests WHERE status IN ('pending', 'processing')))::int AS n`,
  )
  return rows[0]?.n ?? 0
}
