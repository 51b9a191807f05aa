import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import { type Catalog, SHAPES, type Shape } from './catalog.ts'
import type { Client } from './client.ts'

/** The answer to a create. */
export interface Accepted {
  id: string
  isStarted: boolean
  shape: string
}

const MAX_REPEATS = 8

export function createBody({ sequences, targets }: Catalog, random: Random, shape: Shape) {
  const first = random.integer(0, targets.length - shape.targets)
  return {
    sequence_id: sequences.get(shape.name),
    target_ids: targets.slice(first, first + shape.targets).map(({ id }) => id),
    max_retries: shape.retries,
    priority: random.integer(-10, 10),
    ...shape.options,
  }
}

/** One create of a random shape. With a key, the client repeats the call until it has an answer. */
export async function createOne(
  client: Client,
  catalog: Catalog,
  random: Random,
  shape: Shape = random.pickWeighted(SHAPES),
): Promise<Accepted | null> {
  const body = createBody(catalog, random, shape)
  const facts = { shape: shape.name, priority: body.priority }
  const key = random.chance(0.5) ? randomUUID() : null
  const isTwin = key !== null && random.chance(0.1)
  const send = (gateway?: number) =>
    client.call('create', 'POST', '/deployments', { body, key, facts, ...(gateway === undefined ? {} : { gateway }) })
  let [answer] = await Promise.all(isTwin ? [send(0), send(1)] : [send()])
  const isSettled = () => answer !== undefined && answer.status !== null && answer.status < 500
  for (let n = 0; key !== null && !isSettled() && n < MAX_REPEATS; n += 1) {
    await sleep(random.integer(200, 1_500))
    answer = await send()
  }
  if (answer?.status === 201) return { id: answer.body.deployment_id, isStarted: true, shape: shape.name }
  if (answer?.status === 202) return { id: answer.body.pending_request_id, isStarted: false, shape: shape.name }
  return null
}
