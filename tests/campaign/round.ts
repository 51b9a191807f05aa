import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  apiWithToken,
  deadLetterContents,
  queueLengths,
  type Receiver,
  startReceiver,
  violatedInvariants,
} from '@slipway/testing'
import { uptime } from './clock.ts'
import { OracleDatabase } from './database.ts'
import { Ledger } from './ledger.ts'
import { runPlan } from './nemesis/nemesis.ts'
import type { Violation } from './oracle/evidence.ts'
import { type Marker, readMarkers } from './oracle/markers.ts'
import { judge } from './oracle/oracle.ts'
import { readTables, type Tables } from './oracle/tables.ts'
import { type PlanOptions, planRound } from './plan.ts'
import { CAPACITY, CampaignSuite, type Servers } from './suite.ts'
import { type Catalog, type Markers, makeCatalog, makeMarkers } from './workload/catalog.ts'
import { startWorkload } from './workload/workload.ts'

/** Longer than a lease without heartbeat and all retries of a message together. */
const REST_MS = 150_000
const READY_MS = 60_000
const WATCH_MS = 45_000
/** Longer than the first retries of a delivery. */
const WEBHOOK_MS = 90_000
const CLIENTS = 8

export interface FaultResult {
  family: string
  kind: string
  target: string
  /** Milliseconds until a create succeeded that was sent after the injection; null if none did. */
  recoveryMs: number | null
}

export interface RoundResult {
  seed: number
  faults: FaultResult[]
  creates: number
  accepted: number
  deployments: number
  starts: number
  lines: number
  streams: number
  calls: number
  /** Milliseconds from the last fault until all work had ended. */
  restMs: number
  totalMs: number
  /** Durations in milliseconds: of the phase of clients and faults, and of each wait and step after it. */
  phases: Record<string, number>
  /** Processes that ended by themselves. */
  exits: { process: string; code: number | string }[]
  violations: Violation[]
}

const LEFT_TO_DO = `
  (SELECT count(*) FROM deployments WHERE completed_at IS NULL)
  + (SELECT count(*) FROM pending_requests WHERE status IN ('pending', 'processing'))
  + (SELECT count(*) FROM leases WHERE ended_at IS NULL)
  + (SELECT count(*) FROM leases WHERE stopped_at IS NULL AND end_reason IN ('cancelled', 'overdue')
                                   AND ended_at > clock_timestamp() - interval '27 seconds')
  + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM webhook_events)`

const UNFINISHED = `(SELECT count(*) FROM deployments WHERE completed_at IS NULL)
  + (SELECT count(*) FROM pending_requests WHERE status IN ('pending', 'processing'))`

/** A running suite with its catalog, for one round after another. */
export class Stage {
  readonly campaign: CampaignSuite
  readonly catalog: Catalog
  readonly markers: Markers
  readonly database: OracleDatabase
  readonly receiver: Receiver

  private constructor(parts: Omit<Stage, 'close'>) {
    this.campaign = parts.campaign
    this.catalog = parts.catalog
    this.markers = parts.markers
    this.database = parts.database
    this.receiver = parts.receiver
  }

  /** `bundles`: a folder with other bundles of the services. */
  static async open(servers: Servers, bundles?: string): Promise<Stage> {
    const campaign = await CampaignSuite.start(servers, bundles)
    const markers = makeMarkers(path.join(campaign.suite.folder, 'markers'))
    const catalog = await makeCatalog(campaign.suite.url, campaign.apiKey, markers)
    const receiver = await startReceiver()
    const api = apiWithToken(campaign.suite.url, campaign.apiKey)
    const { status } = await api.post('/webhooks', { url: receiver.url, events: ['deployment.finished'] })
    if (status !== 201) throw new Error(`the webhook was answered with ${status}`)
    return new Stage({ campaign, catalog, markers, receiver, database: new OracleDatabase(campaign.suite.databaseUrl) })
  }

  async close(): Promise<string[]> {
    await this.database.close()
    await this.receiver.close()
    return this.campaign.stop()
  }
}

export interface RoundOptions extends PlanOptions {
  /** How long the work may take to end, in milliseconds. */
  mostRestMs?: number
  /** How many times longer everything may take than on an idle machine. Without it, 1. */
  patience?: number
  /** The number of clients that create deployments. */
  clients?: number
}

/** Runs one round on a stage and judges its evidence. The folder gets the ledger, and all artefacts after a violation. */
export async function runRound(
  stage: Stage,
  seed: number,
  options: RoundOptions,
  folder: string,
): Promise<RoundResult> {
  const { campaign, catalog, markers, database } = stage
  const { mostRestMs = REST_MS, patience = 1 } = options
  const plan = planRound(seed, options)
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'plan.json'), JSON.stringify(plan, null, 1))
  const ledger = new Ledger(path.join(folder, 'ledger.jsonl'))
  campaign.onExit = (name, code, at) => ledger.add({ type: 'exit', process: name, at, code })
  const began = uptime()
  const phases: Record<string, number> = {}
  let phaseBegan = began
  const endPhase = (name: string) => {
    phases[name] = uptime() - phaseBegan
    phaseBegan = uptime()
  }
  const since = await database.now()
  const workload = startWorkload({
    campaign,
    catalog,
    ledger,
    seed: plan.workloadSeed,
    clients: options.clients ?? CLIENTS,
    patience,
    countUnfinished: () => database.number(UNFINISHED),
  })
  await Promise.all([runPlan({ campaign, catalog, client: workload.client }, plan, ledger), sleep(plan.workMs)])
  const healedAt = uptime()
  endPhase('work')
  await workload.stop()
  endPhase('last calls')
  const violations: Violation[] = []
  const settle = async (invariant: string, sentence: string, milliseconds: number, left: () => Promise<unknown[]>) => {
    const problem = await settled(milliseconds * patience, left)
    if (problem.length > 0) violations.push({ invariant, sentence, ids: [], evidence: problem })
  }
  await settle('I29', 'every process is ready again, without help', READY_MS, () => campaign.notReady())
  endPhase('ready')
  await settle('I2', 'nothing is stuck: all that was accepted ends', mostRestMs, async () => {
    const left = await database.number(LEFT_TO_DO)
    return left === 0 ? [] : [{ left }]
  })
  const restMs = uptime() - healedAt
  endPhase('rest')
  await settle('I18', 'work queues become empty', 30_000, async () =>
    Object.entries(await queueLengths(campaign.suite.namespace)).filter(
      ([name, length]) => name !== 'dead-letters' && length !== 0 && length !== null,
    ),
  )
  await settle('I17', 'every event is delivered to the webhook', WEBHOOK_MS, async () => {
    const left = await database.number(`SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered'`)
    return left === 0 ? [] : [{ left }]
  })
  endPhase('messages')
  await settled(WATCH_MS * patience, async () => workload.watches.filter(({ hasEnded }) => !hasEnded))
  await workload.stopWatching()
  endPhase('streams')

  const written = readMarkers(markers.file)
  const tables = await readTables(await database.connection(), since)
  const queues = await queueLengths(campaign.suite.namespace)
  const deadLetters = (await deadLetterContents(campaign.suite.namespace)).map((content) => content.toString('base64'))
  endPhase('reading')
  violations.push(
    ...judge({
      ledger,
      markers: written,
      tables,
      queues,
      deadLetters,
      garbage: campaign.garbage,
      capacity: CAPACITY,
      patience,
      delivered: stage.receiver.received.map(({ id, event }) => ({ id, deployment: String(event.data['id']) })),
      watches: workload.watches.map(({ deployment, hasEnded }) => ({ deployment, hasEnded })),
    }),
    ...(await violatedInvariants(campaign.suite.databaseUrl)).map((sentence) => ({
      invariant: 'rest',
      sentence: sentence.slice(0, sentence.indexOf(' — ')),
      ids: [],
      evidence: sentence,
    })),
  )
  await ledger.close()
  endPhase('judging')
  const result = summarize(seed, ledger, tables, written, violations)
  if (violations.length > 0) keepArtefacts(stage, folder, { violations, tables, queues })
  stage.receiver.received.length = 0
  fs.truncateSync(markers.file)
  for (const name of fs.readdirSync(markers.locks)) fs.rmSync(path.join(markers.locks, name))
  return { ...result, streams: workload.watches.length, restMs, totalMs: uptime() - began, phases }
}

/** Waits until all work has ended, or until the time limit. Returns the unfinished work. */
async function settled(milliseconds: number, left: () => Promise<unknown[]>): Promise<unknown[]> {
  const endsBy = uptime() + milliseconds
  for (;;) {
    const problem = await left().catch((error: Error) => [error.message])
    if (problem.length === 0 || uptime() > endsBy) return problem
    await sleep(250)
  }
}

function summarize(
  seed: number,
  ledger: Ledger,
  tables: Tables,
  markers: Marker[],
  violations: Violation[],
): Omit<RoundResult, 'streams' | 'restMs' | 'totalMs' | 'phases'> {
  const creates = ledger.calls.filter(({ purpose }) => purpose === 'create')
  const successes = creates.filter(({ status }) => status === 201 || status === 202)
  const recoveryOf = (at: number) => {
    const answers = successes.filter(({ sentAt }) => sentAt >= at).map(({ answeredAt }) => answeredAt)
    return answers.length === 0 ? null : Math.min(...answers) - at
  }
  return {
    seed,
    faults: ledger.faults
      .filter(({ isInjected }) => isInjected)
      .map(({ family, kind, target, at }) => ({ family, kind, target, recoveryMs: recoveryOf(at) })),
    creates: creates.length,
    calls: ledger.calls.length,
    accepted: successes.length,
    deployments: tables.deployments.length,
    starts: markers.filter(({ what }) => what === 'start').length,
    lines: tables.lines.length,
    exits: ledger.exits.map(({ process, code }) => ({ process, code })),
    violations,
  }
}

function keepArtefacts(
  { campaign, markers }: Stage,
  folder: string,
  found: { violations: Violation[]; tables: Tables; queues: unknown },
): void {
  campaign.keepLogs(folder)
  fs.copyFileSync(markers.file, path.join(folder, 'markers'))
  const { lines, ...tables } = found.tables
  fs.writeFileSync(path.join(folder, 'violations.json'), JSON.stringify(found.violations, null, 1))
  fs.writeFileSync(path.join(folder, 'tables.json'), JSON.stringify({ ...tables, queues: found.queues }, null, 1))
  fs.writeFileSync(path.join(folder, 'lines.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}
