import { enqueue, eventMessage, type Records, statement, text, timestamptz, uuid } from '@slipway/database'
import { requireOwn, type Viewer } from '@slipway/database/read-models'
import { conflict, notFound } from '@slipway/domain'
import { hashToken, randomToken, uuidv7 } from '@slipway/runtime'
import { requireMayTouch } from '../callers/require-may.ts'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { findRecord } from '../records/kind.ts'
import { inEnvironment, TARGET } from './targets.ts'

/** The grant of a new agent. One hour is long enough to install an agent by hand. */
const insertGrant = statement({
  name: 'gateway.agents.insert-grant',
  parameters: { id: uuid, target_id: uuid, token_hash: text },
  row: { expires_at: timestamptz },
  sql: `INSERT INTO agent_grants (id, target_id, token_hash, expires_at)
    VALUES (:id, :target_id, :token_hash, now() + interval '1 hour') RETURNING expires_at`,
})

/** An agent enrols at the executor-bridge with the token of a grant. Deleting the grant deletes the agent. */
export function agentHandlers({
  database,
  outboxChanged,
}: Dependencies): HandlersOf<'createAgentToken' | 'getTargetAgent' | 'revokeTargetAgent'> {
  const { prisma } = database

  const find = async (viewer: Viewer, id: string) => findRecord(TARGET, await prisma(), viewer, id)

  return {
    createAgentToken: {
      async handle({ caller, params, audit }) {
        const found = await find(caller, params['id'] ?? '')
        requireOwn(caller, found, 'targets:update')
        await requireMayTouch(database, caller, 'targets:update', inEnvironment(found.environment_id))
        const { id: target_id, tenant_id } = found
        const id = uuidv7()
        const token = `${id}.${randomToken()}`
        const expires_at = await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await TARGET.lock.run(tx, { id: target_id })
          await requireAgentTarget(prisma, target_id)
          // The grant of an enrolled agent stays: deleting it would delete the agent.
          await prisma.agentGrant.deleteMany({ where: { target_id, agent: null } })
          const { expires_at } = await insertGrant.one(tx, { id, target_id, token_hash: hashToken(token) })
          await audit.record(tx, { resource_id: target_id, tenant_id, details: { grant_id: id } })
          return expires_at
        })
        return { status: 201, body: { token, expires_at } }
      },
    },

    getTargetAgent: {
      async handle({ caller, params }) {
        const { id: target_id } = await find(caller, params['id'] ?? '')
        // The gateway has no right to read the agent's key and credential.
        const select = { id: true, host: true, port: true, version: true, enrolled_at: true }
        const agent = await (await prisma()).agent.findFirst({ where: { target_id }, select })
        if (agent === null) throw notFound('An agent that is enrolled for the target')
        const facts = await (await prisma()).targetFact.findFirst({ where: { target_id } })
        const { id: agent_id, host, port, version, enrolled_at } = agent
        const last_seen_at = facts?.last_seen_at ?? null
        return { status: 200, body: { agent_id, host, port, version, enrolled_at, last_seen_at } }
      },
    },

    revokeTargetAgent: {
      async handle({ caller, params, audit }) {
        const found = await find(caller, params['id'] ?? '')
        requireOwn(caller, found, 'targets:update')
        await requireMayTouch(database, caller, 'targets:update', inEnvironment(found.environment_id))
        const { id: target_id, tenant_id } = found
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await TARGET.lock.run(tx, { id: target_id })
          const { count } = await prisma.agentGrant.deleteMany({ where: { target_id } })
          if (count === 0) throw notFound('An agent or a token of the target')
          await prisma.targetFact.deleteMany({ where: { target_id } })
          await enqueue(tx, [eventMessage('target.updated', { target_id, tenant_id })])
          await audit.record(tx, { resource_id: target_id, tenant_id })
        })
        outboxChanged()
        return { status: 204 }
      },
    },
  }
}

async function requireAgentTarget(prisma: Records, id: string): Promise<void> {
  const target = await prisma.target.findFirst({ where: { id } })
  if (target === null) throw notFound('The target')
  if ((target.connection as { type?: unknown } | null)?.type === 'agent') return
  throw conflict('The target has no agent connection: set its connection to { "type": "agent" } first')
}
