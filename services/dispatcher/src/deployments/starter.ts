import type { CommandBody } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import { currentTraceparent, withoutContext } from '@slipway/runtime'
import { type Arrived, type StartOutcome, startDeployments } from './start.ts'

/** Commands that are started together at most; no more come than are taken from the queue at a time. */
const BATCH = 50
/** Writing more steps than this takes longer than small commands should wait for. */
const MANY_STEPS = 1_000

export type StartDeployment = (
  command: CommandBody<'deployment.start'>,
  received: Pick<Arrived, 'deadline' | 'request_id'>,
) => Promise<StartOutcome | null>

interface Waiting {
  arrived: Arrived
  resolve(outcome: StartOutcome | null): void
  reject(reason: unknown): void
}

/**
 * Starts deployments as startDeployments does. One that comes alone starts at once; those that come meanwhile start
 * together after it: under load a transaction, with all that is read for it, serves many.
 */
export function createStarter(database: Database): StartDeployment {
  const waiting: Waiting[] = []
  let busy = false

  async function start(batch: readonly Waiting[]): Promise<void> {
    const ends = await withoutContext(() =>
      startDeployments(
        database,
        batch.map(({ arrived }) => arrived),
      ),
    )
    for (const [index, { resolve, reject }] of batch.entries()) {
      const end = ends[index]
      if (end?.status === 'fulfilled') resolve(end.value)
      else reject(end?.reason)
    }
  }

  async function startWaiting(): Promise<void> {
    busy = true
    while (waiting.length > 0) await start(waiting.splice(0, BATCH))
    busy = false
  }

  return (command, received) =>
    new Promise((resolve, reject) => {
      const one = { arrived: { command, traceparent: currentTraceparent(), ...received }, resolve, reject }
      if (command.plan.targets.length * command.plan.actions.length > MANY_STEPS) return void start([one])
      waiting.push(one)
      if (!busy) void startWaiting()
    })
}
