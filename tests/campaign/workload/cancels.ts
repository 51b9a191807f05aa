import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { Client } from './client.ts'
import type { Accepted } from './creates.ts'

/** Cancels the result of a create after a moment. A request that has started meanwhile is cancelled as a deployment. */
export async function cancelOne(client: Client, accepted: Accepted, random: Random): Promise<void> {
  await sleep(random.logarithmic(1, 4_000))
  let { id } = accepted
  if (!accepted.isStarted) {
    const { status } = await client.call('cancel pending', 'DELETE', `/deployments/pending/${id}`, {
      facts: { id },
    })
    if (status !== 409 || random.chance(0.5)) return
    const { body } = await client.call('read', 'GET', '/deployments/pending?status=dispatched')
    const requests: { id: string; deployment_id: string }[] = Array.isArray(body) ? body : []
    const dispatched = requests.find((request) => request.id === id)
    if (dispatched === undefined) return
    id = dispatched.deployment_id
  }
  await client.call('cancel', 'POST', `/deployments/${id}/cancel`, { facts: { id } })
}
