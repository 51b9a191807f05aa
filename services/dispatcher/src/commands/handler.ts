import { answerCommands, type Broker, type Handler } from '@slipway/broker'
import type { CommandBody, CommandHandlers, CommandReply, MessageHeaders } from '@slipway/contracts'
import { type Database, type Quarantine, type ReceivedCommand, receivedCommand } from '@slipway/database'
import { Problem } from '@slipway/domain'
import { type Logger, Semaphore } from '@slipway/runtime'
import { cancelDeployment } from '../deployments/cancel.ts'
import { ended, requests } from '../deployments/metrics.ts'
import { createStarter } from '../dispatch/starter.ts'
import { requestReleaseChecks } from '../drift/request.ts'
import { approvePending, rejectPending } from '../pending/approve.ts'
import { cancelPending } from '../pending/cancel.ts'
import { updatePending } from '../pending/update.ts'
import { redeliver } from '../webhooks/redeliver.ts'

/**
 * The most commands other than starts at a time. Each takes a connection, and dispatch, sweep and relay need connections too.
 */
const OTHERS = 4

export interface CommandOptions {
  database: Database
  broker: Pick<Broker, 'reply'>
  logger: Logger
  /** Deployments that lost their instance and could not go on. */
  orphans?: Quarantine
  /** Called after a commit that may have written to the outbox. */
  onCommitted(): void
  /** Called when a request may be pending or a slot may be free. */
  wake(): void
  /** Called when a check may be due. */
  wakeChecks(): void
}

/** Handles the dispatcher's command messages and answers the gateway after the commit. */
export function createCommandHandler({
  database,
  broker,
  logger,
  orphans,
  onCommitted,
  wake,
  wakeChecks,
}: CommandOptions): Handler {
  const starter = createStarter({ database, logger, ...(orphans && { orphans }) })
  const others = new Semaphore(OTHERS)

  /** A started deployment uses its slot, so the queue does not need to run. */
  async function start(body: CommandBody<'deployment.start'>, { deadline, request_id, api_key }: MessageHeaders) {
    try {
      const outcome = await starter(body, { deadline, request_id, api_key })
      requests.inc({ outcome: outcome?.outcome ?? 'late' })
      if (outcome?.outcome === 'queued') wake()
      return outcome
    } catch (error) {
      if (error instanceof Problem) requests.inc({ outcome: 'refused' })
      throw error
    }
  }

  /** Handles a command that may change the queue or free a slot. */
  const change =
    <Body, Reply>(
      execute: (database: Database, body: Body, received: ReceivedCommand) => Promise<Reply | null>,
      wakeUp = wake,
    ) =>
    (body: Body, received: MessageHeaders): Promise<Reply | null> =>
      others.run(async () => {
        const reply = await execute(database, body, receivedCommand(received))
        if (reply !== null) wakeUp()
        return reply
      })

  async function cancel(
    ...command: Parameters<typeof cancelDeployment>
  ): Promise<CommandReply<'deployment.cancel'> | null> {
    const reply = await cancelDeployment(...command)
    if (reply !== null) ended.inc({ state: 'cancelled' })
    return reply
  }

  const handlers: CommandHandlers<'dispatcher.commands'> = {
    'deployment.start': start,
    'deployment.cancel': change(cancel),
    'pending.cancel': change(cancelPending),
    'pending.update': change(updatePending),
    'pending.approve': change(approvePending),
    'pending.reject': change(rejectPending),
    'release.check': change(requestReleaseChecks, wakeChecks),
    'webhook.redeliver': change(redeliver),
  }
  return answerCommands<'dispatcher.commands'>(handlers, { reply: broker.reply, logger, onCommitted })
}
