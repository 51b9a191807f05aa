import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { Client } from './client.ts'
import type { Accepted } from './creates.ts'

const MAX_REPEATS = 8

/** Redeploys the result of a create with the same options. With a key, the client repeats the call until it is answered. */
export async function redeployOne(client: Client, accepted: Accepted, random: Random): Promise<void> {
  if (!accepted.isStarted) return
  await sleep(random.logarithmic(1, 4_000))
  const key = random.chance(0.5) ? randomUUID() : null
  const path = `/deployments/${accepted.id}/redeploy`
  for (let n = 0; n < MAX_REPEATS; n += 1) {
    const { status } = await client.call('redeploy', 'POST', path, { body: {}, key, facts: { shape: accepted.shape } })
    if (key === null || (status !== null && status < 500)) return
    await sleep(random.integer(200, 1_500))
  }
}
