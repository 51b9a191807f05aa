import fs from 'node:fs'
import type { Queryable } from '@slipway/database'
import { type Suite, violatedInvariants, waitFor } from '@slipway/testing'
import { countUnfinished, type Load } from './load.ts'

const REST_MS = 120_000
const QUEUES = ['planner.commands', 'dispatcher.commands', 'executor.commands', 'dispatcher.events', 'dead-letters']

/** Waits until all deployments and requests have ended, and returns the violations that it finds then. */
export async function checkAtRest(suite: Suite, database: Queryable, load: Load): Promise<string[]> {
  try {
    await waitFor(async () => (await countUnfinished(database)) === 0, { timeoutMs: REST_MS, what: 'all to end' })
  } catch {
    return [`${await countUnfinished(database)} deployments and requests do not end`]
  }
  return [
    ...load.wrong.splice(0).map((answer) => `a client saw ${answer}`),
    ...(await wrongEnds(database, load)),
    ...(await wrongCommands(database, load)),
    ...(await violatedInvariants(suite.databaseUrl)),
    ...(await filledQueues(suite)),
  ]
}

/** The database holds exactly the deployments and requests of the answers, and all ended as the clients wanted. */
async function wrongEnds(database: Queryable, load: Load): Promise<string[]> {
  const { rows } = await database.query<{ id: string; state: string; used_up: boolean; error: string | null }>(
    `SELECT coalesce(p.id, d.id) AS id, coalesce(d.state::text, p.status::text) AS state, d.error_message AS error,
            EXISTS (SELECT FROM steps s JOIN deployment_actions a USING (deployment_id, action_index)
                     WHERE s.deployment_id = d.id AND s.state = 'failed' AND s.retry_count >= a.max_retries) AS used_up
       FROM deployments d FULL JOIN pending_requests p ON p.deployment_id = d.id`,
  )
  const ends = new Map(rows.map((row) => [row.id, row]))
  const lost = [...load.told.keys()].filter((id) => !ends.has(id)).map((id) => `${id} was accepted and is lost`)
  const wrong = rows.flatMap(({ id, state, used_up, error }) => {
    const told = load.told.get(id)
    if (told === undefined) return [`${id} exists, and no client was told of it`]
    // Each death of an instance uses up an attempt of its commands.
    const own = told.kind === 'failing' ? ['rolled_back', 'failed'] : used_up ? ['failed'] : ['success']
    const allowed = { none: own, asked: [...own, 'cancelled'], done: ['cancelled'] }[told.cancel]
    return allowed.includes(state) ? [] : [`${id} (${told.kind}, cancel ${told.cancel}) ended ${state}: ${error}`]
  })
  return [...lost, ...wrong]
}

/** Commands that ran twice, overlapped, or did not run. */
async function wrongCommands(database: Queryable, { markerFile }: Load): Promise<string[]> {
  const lines = fs
    .readFileSync(markerFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  const of = (what: string) => lines.filter((line) => line.startsWith(`${what} `))
  const starts = of('start')
  const repeated = starts.length === new Set(starts).size ? [] : starts.filter((line, n) => starts.indexOf(line) !== n)
  const count = (what: string) => {
    const counts = new Map<string, number>()
    for (const line of of(what)) counts.set(placeOf(line), (counts.get(placeOf(line)) ?? 0) + 1)
    return (place: string) => counts.get(place) ?? 0
  }
  const [started, ended] = [count('start'), count('end')]
  const { rows } = await database.query<{ place: string; tries: number; state: string }>(
    `SELECT s.deployment_id || '/' || a.action_name AS place, s.retry_count + 1 AS tries, s.state::text AS state
       FROM steps s JOIN deployment_actions a USING (deployment_id, action_index)`,
  )
  return [
    ...of('overlap').map((line) => `two commands of a step at a time: ${line}`),
    ...repeated.map((line) => `an attempt ran twice: ${line}`),
    ...rows.flatMap(({ place, tries, state }) => {
      if (started(place) > tries) return [`${place} started ${started(place)} times in ${tries} attempts`]
      return state === 'completed' && ended(place) === 0 ? [`${place} completed and did not run`] : []
    }),
  ]
}

const placeOf = (marker: string) => marker.split(' ')[1] ?? ''

async function filledQueues(suite: Suite): Promise<string[]> {
  const filled = async () => {
    const metrics = await suite.metricsOf('dispatcher')
    return QUEUES.filter((queue) => metrics.value('slipway_queue_messages', { queue }) !== 0)
  }
  const last = await waitFor(async () => (await filled()).length === 0, { timeoutMs: 20_000 }).then(() => [], filled)
  return last.map((queue) => `the queue ${queue} is not empty`)
}
