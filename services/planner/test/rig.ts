import { afterAll, beforeEach, expect } from '@jest/globals'
import type { RequestOptions } from '@slipway/broker'
import type { CommandBody, CommandReply, CommandType, ReplyEnvelope } from '@slipway/contracts'
import type { Database } from '@slipway/database'
import type { VariableValues } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import {
  addAdmin,
  addUser,
  testLogger as logger,
  openTestBroker,
  openTestDatabase,
  removeNamespace,
  testNamespace,
} from '@slipway/testing'
import { createCommandHandler } from '../src/commands/handler.ts'
import { ADMIN, keyRing, OPERATOR, type Request, type StartCommand } from './fixtures.ts'

/** A planner on RabbitMQ, with a gateway that sends requests and a dispatcher that answers. */
export interface Rig {
  database: Database
  /** The commands that the dispatcher received, in order. */
  started: StartCommand[]
  ask(
    type: 'plan.create' | 'plan.preview',
    request: Request,
    caller?: StartCommand['caller'],
  ): Promise<ReplyEnvelope<CommandReply<'plan.preview'>> & { command_id: string }>
  /** Returns the command that the dispatcher received. The request must be accepted. */
  planned(request: Request, caller?: StartCommand['caller']): Promise<StartCommand>
  /** Returns the preview. The request must be accepted. */
  previewed(
    request: Request,
    caller?: StartCommand['caller'],
  ): Promise<CommandReply<'plan.preview'> & { command_id: string }>
  /** Returns the refusal. Create and preview must refuse the request in the same way. */
  refused(request: Request, caller?: StartCommand['caller']): Promise<Extract<ReplyEnvelope, { ok: false }>['problem']>
  redeploy(
    deploymentId: string,
    request?: CommandBody<'plan.redeploy'>['request'] & { variables?: VariableValues },
    caller?: StartCommand['caller'],
  ): Promise<ReplyEnvelope & { command_id: string }>
}

/** Creates the rig of a test file. Each test begins without freezes and instances. */
export async function testRig(): Promise<Rig> {
  const server = await openTestDatabase()
  const { database } = server
  await addAdmin(database, ADMIN.user_id, ADMIN.username)
  await addUser(database, { ...OPERATOR, permissions: ['deployments:create'] })
  const namespace = testNamespace()
  const [gateway, planner, dispatcher] = await Promise.all([
    openTestBroker(namespace, 'gateway'),
    openTestBroker(namespace, 'planner'),
    openTestBroker(namespace, 'dispatcher'),
  ])
  const started: StartCommand[] = []
  const handle = createCommandHandler({
    database: server.as('planner'),
    broker: planner,
    keyRing,
    logger,
  })
  await planner.consume('planner.commands', { prefetch: 4, handle })
  await dispatcher.consume('dispatcher.commands', {
    prefetch: 4,
    async handle({ body }, { replyTo, correlationId }) {
      const command = body as StartCommand
      started.push(command)
      dispatcher.reply(replyTo, correlationId, {
        ok: true,
        result: { outcome: 'started', deployment_id: command.command_id, warnings: [] },
      })
    },
  })

  async function send<T extends CommandType>(type: T, body: CommandBody<T>): Promise<ReplyEnvelope<CommandReply<T>>> {
    const options = {
      timeoutMs: 60_000,
      deadline: new Date(Date.now() + 58_000).toISOString(),
      request_id: 'request-1',
    } satisfies RequestOptions
    return gateway.request(type, body, options)
  }

  const seal = (command_id: string, values: { variables?: VariableValues; prompted_values?: VariableValues }) =>
    keyRing.seal(JSON.stringify(values), `command:${command_id}`)

  const ask: Rig['ask'] = async (type, { variables, prompted_values, ...request }, caller = ADMIN) => {
    const command_id = uuidv7()
    const values = { ...(variables ? { variables } : {}), ...(prompted_values ? { prompted_values } : {}) }
    const sealed_values = variables || prompted_values ? seal(command_id, values) : null
    const reply = await send(type, { command_id, caller, request, sealed_values })
    return { ...(reply as ReplyEnvelope<CommandReply<'plan.preview'>>), command_id }
  }

  afterAll(async () => {
    await Promise.all([gateway.close(), planner.close(), dispatcher.close()])
    await removeNamespace(namespace)
    await server.drop()
  })
  beforeEach(async () => {
    await database.query('DELETE FROM freezes')
    await database.query('DELETE FROM leases')
    await database.query('DELETE FROM instance_slots')
    await database.query('DELETE FROM instances')
  })

  return {
    database,
    started,
    ask,
    async planned(request, caller) {
      const reply = await ask('plan.create', request, caller)
      const command = started.find(({ command_id }) => command_id === reply.command_id)
      if (!command) throw new Error(`refused: ${JSON.stringify(reply)}`)
      return command
    },
    async previewed(request, caller) {
      const reply = await ask('plan.preview', request, caller)
      if (!reply.ok) throw new Error(JSON.stringify(reply.problem))
      return { ...reply.result, command_id: reply.command_id }
    },
    async refused(request, caller) {
      const reply = await ask('plan.create', request, caller)
      if (reply.ok) throw new Error('accepted')
      const preview = await ask('plan.preview', request, caller)
      expect(preview.ok ? 'accepted' : preview.problem).toEqual(reply.problem)
      expect(started.map(({ command_id }) => command_id)).not.toContain(reply.command_id)
      return reply.problem
    },
    async redeploy(deployment_id, { variables, ...request } = {}, caller = ADMIN) {
      const command_id = uuidv7()
      const sealed_values = variables ? seal(command_id, { variables }) : null
      return {
        ...(await send('plan.redeploy', { command_id, caller, deployment_id, request, sealed_values })),
        command_id,
      }
    },
  }
}
