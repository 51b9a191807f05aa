import {
  attempt,
  Collision,
  countRowFailure,
  type Database,
  isCollision,
  isUnavailable,
  MOST_STEPS,
  placesMatter,
  Quarantine,
  type Queryable,
  type ReadRound,
  readRound,
} from '@slipway/database'
import { unlessRefused } from '@slipway/database/audit'
import { admit, type Decision, hasScopedAuthor, isNew, type Start } from '@slipway/engine'
import type { Logger } from '@slipway/runtime'
import { insertPlans } from '../deployments/write.ts'
import { Moved } from '../leases/leases.ts'
import { lockAdmission, lockCommands } from '../locks/admission.sql.ts'
import { dropUnlocked } from '../locks/locks.sql.ts'
import { claim, markRetry } from '../pending/status.ts'
import { claimRequests } from './claim.ts'
import { type Committing, commit, type StartResult, withPriority } from './commit.ts'
import { newRequestOf, type StartCommand } from './start-commands.ts'

/** A decision whose rows have moved is made again so many times. Then it waits. */
const MOST_TRIES = 3

export interface AdmissionOptions {
  database: Database
  logger: Logger
  /** Deployments that lost their instance and could not go on. All rounds of a process share them. */
  orphans?: Quarantine
}

export type Admission = Required<AdmissionOptions>

export const admissionOf = ({
  database,
  logger,
  orphans = new Quarantine({ task: 'resume', logger }),
}: AdmissionOptions): Admission => ({ database, logger, orphans })

export interface Round {
  /** The answers to the new commands, by id. An Error that is no Problem is a failure of this command alone. */
  answers: Map<string, StartResult | Error>
  /** New commands that are decided in the next round. */
  undecided: StartCommand[]
  /** Pending requests that may start, and whose plans are too large for this round. */
  large: string[]
  /** How many requests started or left the queue. */
  changed: number
}

/** What earlier tries of a round have shown. A try that fails is rolled back, and the round begins again. */
interface Tries {
  /** The deployments whose slots or targets were taken since the snapshot, and how often that happened. */
  moved: Set<string>
  moves: number
  /** Whether each decision is committed alone, because one of them fails. */
  careful: boolean
}

const firstTry = (): Tries => ({ moved: new Set(), moves: 0, careful: false })

/**
 * One round of admission: reads a snapshot, decides, and commits, while no other dispatcher decides. A create is a round with new
 * commands; the queue is one without.
 */
export function runRound({ database, ...admission }: Admission, commands: readonly StartCommand[]): Promise<Round> {
  const tries = firstTry()
  return database.transaction(async (tx) => {
    const { first, later } = withoutCopies(commands)
    const [, dropped, reading] = await Promise.all([
      lockAdmission.run(tx, { command_ids: idsOf(first) }),
      first.length === 0 ? dropUnlocked.run(tx) : 0,
      read(tx, admission, first),
    ])
    const round = await decideAndCommit(tx, admission, { commands: first, reading, tries })
    return { ...round, undecided: [...round.undecided, ...later], changed: round.changed + dropped }
  })
}

/**
 * A round for a large plan: writes the rows of the plan before others must wait. It does so only if the plan would start now, and
 * takes the rows back if it turns out that it waits.
 */
export function runLargeRound({ database, ...admission }: Admission, large: StartCommand | string): Promise<Round> {
  const tries = firstTry()
  return database.transaction(async (tx) => {
    const commands = typeof large === 'string' ? [] : [large]
    const id = typeof large === 'string' ? large : large.command.command_id
    const [, seen] = await Promise.all([
      lockCommands.run(tx, { command_ids: idsOf(commands) }),
      read(tx, admission, commands),
    ])
    const starts = decide(seen).some((decision) => isStartOf(id, commands.length > 0, decision))
    if (starts) {
      const { planned, changed } =
        commands.length > 0 ? { planned: commands, changed: 0 } : await claimPlanned(tx, id, seen)
      if (changed > 0) return { ...NOTHING, changed }
      const planning = { id, commands, planned, tries }
      const round = await attempt(tx, (inner) => startPlanned(inner, admission, planning)).catch((error: unknown) =>
        takenBack(tx, planning, { error, admission }),
      )
      if (round !== null) return round
    }
    const [, reading] = await Promise.all([lockAdmission.run(tx, { command_ids: [] }), read(tx, admission, commands)])
    return decideAndCommit(tx, admission, { commands, reading, tries })
  })
}

class WaitsAfterAll extends Error {
  override name = 'WaitsAfterAll'
}

interface Planning {
  id: string
  /** Empty if the request is stored. */
  commands: readonly StartCommand[]
  /** The request with the priority that it has now. Empty if it left the queue, or another dispatcher holds it. */
  planned: readonly StartCommand[]
  tries: Tries
}

/** @throws WaitsAfterAll if the request does not start: its rows must be taken back */
async function startPlanned(
  tx: Queryable,
  admission: Omit<Admission, 'database'>,
  { id, commands, planned, tries }: Planning,
): Promise<Round> {
  if (planned.length === 0) throw new WaitsAfterAll(`${id} left the queue`)
  await insertPlans(
    tx,
    planned.map((each) => ({ ...each, deployment_id: id })),
  )
  const prepared = [id]
  const [, reading] = await Promise.all([
    lockAdmission.run(tx, { command_ids: [] }),
    read(tx, admission, commands, prepared),
  ])
  const round = await decideAndCommit(tx, admission, { commands, reading, prepared, tries })
  if (!round.started.has(id)) throw new WaitsAfterAll(`${id} has no slot any more`)
  return round
}

/** What becomes of a large plan whose rows were taken back. Null: a round decides again. */
async function takenBack(tx: Queryable, { id, commands }: Planning, failure: Failure): Promise<Round | null> {
  const { error } = failure
  if (error instanceof WaitsAfterAll) return null
  if (isPassing(error)) throw error
  if (commands.length > 0) return { ...NOTHING, answers: await failureOf(id, error) }
  await retryLater(tx, id, failure)
  return { ...NOTHING, changed: 1 }
}

/** Locks a pending request. It changes instead if it uses records that are gone, or must be decided again. */
async function claimPlanned(tx: Queryable, id: string, { snapshot, requests }: ReadRound) {
  const isScoped = requests.some((request) => request.id === id && hasScopedAuthor(request))
  const { ready, changed } = await claimRequests(tx, [id], { placesMatter: placesMatter(snapshot) || isScoped })
  const planned = ready.map(({ request }): StartCommand => {
    const { request_id, traceparent } = request
    return { command: withPriority(request), request_id, traceparent }
  })
  return { planned, changed }
}

/** In one order everywhere, so that transactions that lock several commands cannot deadlock. */
const idsOf = (commands: readonly StartCommand[]) => commands.map(({ command }) => command.command_id).sort()

/** Copies of a command that came together are decided one after the other. */
function withoutCopies(commands: readonly StartCommand[]): { first: StartCommand[]; later: StartCommand[] } {
  const byId = new Map<string, StartCommand>()
  const later: StartCommand[] = []
  for (const each of commands) {
    const { command_id } = each.command
    if (byId.has(command_id)) later.push(each)
    else byId.set(command_id, each)
  }
  return { first: [...byId.values()], later }
}

const read = (
  tx: Queryable,
  { orphans }: Pick<Admission, 'orphans'>,
  commands: readonly StartCommand[],
  prepared: readonly string[] = [],
): Promise<ReadRound> => readRound(tx, { arrivals: commands.map(newRequestOf), heldOrphans: orphans.held, prepared })

const decide = ({ snapshot, requests }: ReadRound) => admit(snapshot, requests, snapshot.now)

/** Whether the new or the stored request with this id starts. Both are there if the command is repeated. */
const isStartOf = (id: string, isOfNew: boolean, { is, request }: Decision): boolean =>
  is === 'start' && request.id === id && isNew(request) === isOfNew

interface Deciding {
  commands: readonly StartCommand[]
  reading: ReadRound
  prepared?: readonly string[]
  tries: Tries
}

/** @throws Collision if the round must begin again */
async function decideAndCommit(
  tx: Queryable,
  admission: Omit<Admission, 'database'>,
  { commands, reading, prepared = [], tries }: Deciding,
): Promise<Round & { started: ReadonlySet<string> }> {
  const stepsOf = stepsOfRequests(reading, commands)
  const isLarge = (id: string) => stepsOf(id) > MOST_STEPS && !prepared.includes(id)
  const isGivenUp = (id: string) => tries.moves >= MOST_TRIES && tries.moved.has(id)
  const decided = decide(reading)
  const decisions = decided.flatMap((decision) => {
    const { id } = decision.request
    return decision.is === 'start' && (isLarge(id) || isGivenUp(id)) ? waitInstead(decision) : [decision]
  })
  const committing = {
    snapshot: reading.snapshot,
    commands: new Map(commands.map((each) => [each.command.command_id, each])),
    prepared: new Set(prepared),
    due: reading.due,
  }
  const { answers, changed, started } = await commitOrTryAgain(tx, admission, { decisions, committing, tries })
  return {
    answers,
    changed,
    undecided: commands.filter(({ command }) => !answers.has(command.command_id)),
    large: decided.flatMap(({ is, request: { id } }) => (is === 'start' && isLarge(id) ? [id] : [])),
    started: new Set(started),
  }
}

/** A pending request stays as it is. A new one is queued. */
const waitInstead = ({ slot: _, ...decision }: Start): Decision[] =>
  isNew(decision.request)
    ? [{ ...decision, is: 'wait', blockers: [], isParked: false, review_at: decision.request.terms.expires_at }]
    : []

function stepsOfRequests({ steps }: ReadRound, commands: readonly StartCommand[]): (id: string) => number {
  const own = new Map(
    commands.map(({ command: { command_id, plan } }) => [command_id, plan.targets.length * plan.actions.length]),
  )
  return (id) => own.get(id) ?? steps.get(id) ?? 0
}

type Committed = Pick<Round, 'answers' | 'changed'> & { started: readonly string[] }

/** Commits all decisions at once. If a decision fails, the round begins again and commits each alone. */
async function commitOrTryAgain(
  tx: Queryable,
  admission: Omit<Admission, 'database'>,
  { decisions, committing, tries }: { decisions: readonly Decision[]; committing: Committing; tries: Tries },
): Promise<Committed> {
  try {
    if (tries.careful) return await commitEach(tx, decisions, committing, admission)
    const committed = await commit(tx, decisions, committing)
    for (const { is, request } of decisions) if (is === 'start') admission.orphans.release(request.id)
    return committed
  } catch (error) {
    if (error instanceof Moved) {
      tries.moves += 1
      for (const id of error.deploymentIds) tries.moved.add(id)
    } else if (tries.careful || isPassing(error)) throw error
    else tries.careful = true
    throw new Collision('the round begins again', { cause: error })
  }
}

/** Commits each decision alone: a wrong request must not stop the others. */
async function commitEach(
  tx: Queryable,
  decisions: readonly Decision[],
  committing: Committing,
  admission: Omit<Admission, 'database'>,
): Promise<Committed> {
  const answers: Round['answers'] = new Map()
  const started: string[] = []
  let total = 0
  for (const decision of decisions) {
    const one = await attempt(tx, (inner) => commit(inner, [decision], committing)).catch((error: unknown) => {
      if (error instanceof Moved || isPassing(error) || isPlanned(decision, committing)) throw error
      return failed(tx, decision, { error, admission })
    })
    for (const [id, answer] of one.answers) answers.set(id, answer)
    total += one.changed
    started.push(...one.started)
  }
  return { answers, changed: total, started }
}

/** Whether the plan is written already. It must be taken back if its deployment does not start. */
const isPlanned = ({ request }: Decision, { prepared }: Committing) => prepared.has(request.id)

interface Failure {
  error: unknown
  admission: Omit<Admission, 'database'>
}

/** Notes that a single request failed. */
async function failed(tx: Queryable, { request }: Decision, { error, admission }: Failure): Promise<Committed> {
  if (isNew(request)) return { ...NOTHING, answers: await failureOf(request.id, error) }
  if (request.kind === 'start') {
    await retryLater(tx, request.id, { error, admission })
    return { ...NOTHING, changed: 1 }
  }
  admission.orphans.hold(request.id, error)
  return NOTHING
}

const NOTHING: Round & Committed = { answers: new Map(), undecided: [], large: [], changed: 0, started: [] }

/** The answer to a new command that failed for a reason of its own. */
async function failureOf(id: string, error: unknown): Promise<Round['answers']> {
  const answer = await unlessRefused(Promise.reject(error)).catch((failure: unknown) => failure)
  return new Map([[id, answer instanceof Error ? answer : null]])
}

/** Returns a pending request to the queue after a dispatch that failed for a reason of its own. */
async function retryLater(tx: Queryable, id: string, { error, admission: { logger } }: Failure): Promise<void> {
  countRowFailure('dispatch')
  logger.error('a pending request could not be dispatched', { pending_request_id: id, error })
  const reason = 'The dispatch failed for an internal reason; see the log of the dispatcher'
  for (const claimed of await claim(tx, [id])) await markRetry(tx, claimed, reason)
}

/** Whether the failure is not the fault of a request. Then the whole transaction is repeated. */
const isPassing = (error: unknown) => isCollision(error) || isUnavailable(error)
