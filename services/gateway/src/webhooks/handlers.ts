import { randomBytes } from 'node:crypto'
import type { OperationId } from '@slipway/contracts'
import type { Queryable, Transaction } from '@slipway/database'
import { own } from '@slipway/database/read-models'
import { conflict, isUuid, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { messageCaller } from '../callers/calling-user.ts'
import { changesOf, lockRecord } from '../catalog/changing.ts'
import { fieldReferences, References } from '../catalog/references.ts'
import type { Dependencies } from '../dependencies.ts'
import { sendRecordedCommand } from '../deployments/recorded-command.ts'
import type { HandlersOf } from '../handler.ts'
import { answerPage, escapeLike, newestOrder, pageOfNewest } from '../pages.ts'
import { countDeliveries, findDeliveries, findDelivery, lockWebhooksOf } from './deliveries.sql.ts'
import { findWebhook, SHOWN, type WebhookRecord } from './records.ts'
import { checkUrl, requireCallable, requireReadable } from './rules.ts'

/** Limited, because each event is written once per webhook. */
const MAX_PER_TENANT = 100
const SECRET_BYTES = 32

const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
/** What the secret of a webhook is sealed for. The dispatcher opens it. */
const identity = (id: string) => `webhook:${id}:secret`
/** For the audit log: path and query of a URL may contain a token. */
const originOf = (url: string) => new URL(url).origin

type WebhookOperation = Extract<OperationId, `${string}Webhook` | 'listWebhooks' | 'listWebhookDeliveries'>

export function webhookHandlers({
  database,
  keys,
  broker,
  webhookDestinations,
}: Dependencies): HandlersOf<WebhookOperation> {
  return {
    listWebhooks: {
      async handle({ caller, query }) {
        const { webhook } = await database.prisma()
        const url = { contains: escapeLike(query.search ?? ''), mode: 'insensitive' as const }
        const where = { AND: [own(caller), { url }] }
        return answerPage(
          query,
          newestOrder('webhooks'),
          () => webhook.count({ where }),
          (slice) => webhook.findMany({ ...pageOfNewest(where, slice), select: SHOWN }),
        )
      },
    },

    createWebhook: {
      check: checkUrl,
      authorize: (caller, body) => requireReadable(caller, (body as { events?: unknown } | null)?.events),
      async handle({ caller, body, audit }) {
        const references = await References.resolve(database, caller, fieldReferences(body, { tenant_id: 'tenant' }))
        const tenant_id = references.tenantFor(caller)
        await requireCallable(body.url, webhookDestinations)
        const id = uuidv7()
        const secret = body.secret ?? newSecret()
        const { url, events, enabled = true } = body
        const webhook = await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await requireRoom(tx, tenant_id)
          const secret_sealed = keys.seal(secret, identity(id))
          const data = { id, tenant_id, url, events, secret_sealed, enabled }
          const created = await prisma.webhook.create({ data, select: SHOWN })
          const details = { origin: originOf(url), events, enabled }
          await audit.record(tx, { resource_id: id, tenant_id, details })
          return created
        })
        return { status: 201, body: { ...webhook, ...(body.secret === undefined ? { secret } : {}) } }
      },
    },

    getWebhook: {
      handle: async ({ caller, params }) => ({
        status: 200,
        body: await findWebhook(await database.prisma(), caller, params['id'] ?? ''),
      }),
    },

    updateWebhook: {
      check: checkUrl,
      async handle({ caller, params, body, audit }) {
        const { id } = await findWebhook(await database.prisma(), caller, params['id'] ?? '')
        if (body.url !== undefined) await requireCallable(body.url, webhookDestinations)
        const webhook = await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await lockRecord(tx, 'webhooks', id)
          const old = await findWebhook(prisma, caller, id)
          const { url, events, enabled } = { ...old, ...body }
          requireReadable(caller, events)
          const secret = body.secret === undefined ? {} : { secret_sealed: keys.seal(body.secret, identity(id)) }
          const reason = body.enabled === undefined ? {} : { disabled_reason: null }
          // Another receiver starts without the timeouts of the former one.
          const timeouts = url === old.url ? {} : { consecutive_timeouts: 0 }
          const data = { url, events, enabled, ...secret, ...reason, ...timeouts }
          const updated = await prisma.webhook.update({ where: { id }, data, select: SHOWN })
          const shown = ({ url, ...record }: Pick<WebhookRecord, 'url' | 'events' | 'enabled'>) => ({
            ...record,
            origin: originOf(url),
          })
          const details = {
            changes: changesOf(shown(old), shown({ url, events, enabled })),
            url_changed: url !== old.url,
            secret_changed: body.secret !== undefined,
          }
          await audit.record(tx, { resource_id: id, tenant_id: old.tenant_id, details })
          return updated
        })
        return { status: 200, body: webhook }
      },
    },

    deleteWebhook: {
      async handle({ caller, params, audit }) {
        const { id, tenant_id, url } = await findWebhook(await database.prisma(), caller, params['id'] ?? '')
        await database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          const { count } = await prisma.webhook.deleteMany({ where: { id } })
          if (count === 0) throw notFound('The webhook')
          await audit.record(tx, { resource_id: id, tenant_id, details: { origin: originOf(url) } })
        })
        return { status: 204 }
      },
    },

    listWebhookDeliveries: {
      async handle({ caller, params, query }) {
        const { id } = await findWebhook(await database.prisma(), caller, params['id'] ?? '')
        const ofWebhook = { webhook_id: id, status: query.status ?? null }
        return answerPage(
          query,
          newestOrder('deliveries'),
          async () => (await countDeliveries.one(database, ofWebhook)).total,
          (slice) => findDeliveries.all(database, { ...ofWebhook, ...slice }),
          (rows) => rows.map(({ item }) => item),
        )
      },
    },

    redeliverWebhook: {
      async handle(call) {
        const { caller, params } = call
        const {
          id: webhook_id,
          tenant_id,
          events,
        } = await findWebhook(await database.prisma(), caller, params['id'] ?? '')
        const delivery_id = params['delivery_id'] ?? ''
        await requireDelivery(database, webhook_id, delivery_id)
        requireReadable(caller, events)
        await sendRecordedCommand(
          { database, broker },
          call,
          { resource_id: webhook_id, tenant_id },
          {
            type: 'webhook.redeliver',
            body: { webhook_id, delivery_id, caller: messageCaller(caller) },
            done: { delivery_id },
          },
        )
        return { status: 202, body: await requireDelivery(database, webhook_id, delivery_id) }
      },
    },
  }
}

/** @throws Problem CONFLICT if the tenant has too many webhooks */
async function requireRoom(tx: Transaction, tenant_id: string | null): Promise<void> {
  const prisma = await tx.prisma()
  await lockWebhooksOf.run(tx, { tenant_id })
  const count = await prisma.webhook.count({ where: { tenant_id } })
  if (count >= MAX_PER_TENANT)
    throw conflict(`There are ${MAX_PER_TENANT} webhooks, the most that a tenant may have; delete one first`)
}

/** @throws Problem NOT_FOUND */
async function requireDelivery(db: Queryable, webhook_id: string, id: string): Promise<object> {
  const found = isUuid(id) ? await findDelivery.first(db, { id, webhook_id }) : null
  if (found === null) throw notFound('The delivery')
  return found.item
}
