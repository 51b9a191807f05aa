import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import { type Catalog, SHAPES } from './catalog.ts'
import type { Client } from './client.ts'
import { createBody } from './creates.ts'

const EVERY_MS = 1_500
const LISTS = ['/deployments', '/deployments/pending', '/releases', '/deployments?search=single']

/** Reads of a user of another tenant, which must return no data. `known` names a deployment that exists. */
export async function readAsForeigner(client: Client, random: Random, known: () => string | undefined): Promise<void> {
  const id = known()
  const path = id === undefined || random.chance(0.5) ? random.pick(LISTS) : `/deployments/${id}`
  await client.call('foreign read', 'GET', path)
  await sleep(EVERY_MS)
}

/** A create in the frozen environment, which must be refused. */
export async function createFrozen(client: Client, catalog: Catalog, random: Random): Promise<void> {
  const [shape] = SHAPES
  if (shape === undefined) return
  const body = { ...createBody(catalog, random, shape), environment_id: catalog.frozenEnvironment }
  await client.call('frozen create', 'POST', '/deployments', { body, facts: { shape: shape.name } })
  await sleep(EVERY_MS)
}
