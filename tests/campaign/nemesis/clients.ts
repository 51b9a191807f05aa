import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../random.ts'
import { CLIENT_LINKS } from '../topology.ts'
import { SHAPES } from '../workload/catalog.ts'
import { createBody } from '../workload/creates.ts'
import { type FaultFactory, moment } from './fault.ts'

const VANISHING = 8
const READERS = 5
/** A gateway behind a dead link never answers. Without this bound the fault, and so the round, would not end. */
const OPEN_MS = 10_000

export const clientFault: FaultFactory = ({ catalog, client }, { kind, target, at }) => {
  const gateway = (CLIENT_LINKS as readonly string[]).indexOf(target)
  const random = new Random(at)
  const [shape] = SHAPES
  if (shape === undefined) throw new Error('there are no shapes')
  switch (kind) {
    case 'vanish':
      return moment(async () => {
        await Promise.all(
          Array.from({ length: VANISHING }, () => {
            const body = createBody(catalog, random, shape)
            const patienceMs = random.logarithmic(1, 300)
            return client.call('create', 'POST', '/deployments', {
              body,
              gateway,
              patienceMs,
              facts: { shape: shape.name },
            })
          }),
        )
      })
    case 'do not read': {
      const ender = new AbortController()
      return {
        async inject() {
          const open = async () => {
            const { status, body } = await client.call('token', 'POST', '/auth/sse-token', { body: {}, gateway })
            if (status !== 200) return
            // The body of this answer is not read.
            await client.stream(`/sse/deployments?sse_token=${body.sse_token}`, gateway, ender.signal)
          }
          await Promise.race([Promise.all(Array.from({ length: READERS }, open)), sleep(OPEN_MS)])
        },
        heal: () => ender.abort(),
      }
    }
    default:
      throw new Error(`no such fault of clients: ${kind}`)
  }
}
