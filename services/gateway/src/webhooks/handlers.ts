import { randomBytes } from 'node:crypto'
import type { OperationId } from '@slipway/contracts'
import { LOCK_KEYS_BY_VALUE, type Queryable } from '@slipway/database'
import { conflict, notFound } from '@slipway/domain'
import { uuidv7 } from '@slipway/runtime'
import { messageCaller } from '../callers/calling-user.ts'
import { changesOf } from '../catalog/changing.ts'
import { answerPage } from '../catalog/listing.ts'
import { fieldReferences, References } from '../catalog/references.ts'
import type { Dependencies } from '../dependencies.ts'
import { recordedCommand } from '../deployments/recorded-command.ts'
import type { HandlersOf } from '../http/handler.ts'
import { countDeliveries, findDelivery, listDeliveries } from './deliveries.ts'
import { COLUMNS, countWebhooks, findWebhook, listWebhooks, type WebhookRecord } from './records.ts'
import { checkUrl, requireCallable, requireReadable } from './rules.ts'

/** Each event is written once for every webhook that asks for it. */
const MAX_PER_TENANT = 100
const SECRET_BYTES = 32

const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
/** What a webhook's secret is sealed for; the dispatcher opens it. */
const identity = (id: string) => `webhook:${id}:secret`
/** For the audit log, as a path or a query may hold a token of the receiver's. */
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
      handle: ({ caller, query }) =>
        answerPage(
          query,
          () => countWebhooks(database, caller, query.search),
          (slice) => listWebhooks(database, caller, { search: query.search, ...slice }),
        ),
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
          await requireRoom(tx, tenant_id)
          const { rows } = await tx.query<WebhookRecord>(
            `INSERT INTO webhooks AS w (id, tenant_id, url, events, secret_sealed, enabled)
             VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${COLUMNS}`,
            [id, tenant_id, url, events, keys.seal(secret, identity(id)), enabled],
          )
          const details = { origin: originOf(url), events, enabled }
          await audit.record(tx, { resource_id: id, tenant_id, details })
          return rows[0]
        })
        return { status: 201, body: { ...webhook, ...(body.secret === undefined ? { secret } : {}) } }
      },
    },

    getWebhook: {
      handle: async ({ caller, params }) => ({
        status: 200,
        body: await findWebhook(database, caller, params['id'] ?? ''),
      }),
    },

    updateWebhook: {
      check: checkUrl,
      async handle({ caller, params, body, audit }) {
        const { id } = await findWebhook(database, caller, params['id'] ?? '')
        if (body.url !== undefined) await requireCallable(body.url, webhookDestinations)
        const webhook = await database.transaction(async (tx) => {
          const old = await findWebhook(tx, caller, id, 'FOR UPDATE')
          const { url, events, enabled } = { ...old, ...body }
          requireReadable(caller, events)
          const { rows } = await tx.query<WebhookRecord>(
            `UPDATE webhooks w SET url = $2, events = $3, enabled = $4, secret_sealed = coalesce($5, secret_sealed),
                    disabled_reason = CASE WHEN $6 THEN NULL ELSE disabled_reason END, updated_at = now()
              WHERE id = $1 RETURNING ${COLUMNS}`,
            [
              id,
              url,
              events,
              enabled,
              body.secret === undefined ? null : keys.seal(body.secret, identity(id)),
              body.enabled !== undefined,
            ],
          )
          const shown = (record: { url: string }) => ({ ...record, url: undefined, origin: originOf(record.url) })
          const details = {
            changes: changesOf(shown(old), shown({ url, events, enabled } as WebhookRecord)),
            url_changed: url !== old.url,
            secret_changed: body.secret !== undefined,
          }
          await audit.record(tx, { resource_id: id, tenant_id: old.tenant_id, details })
          return rows[0]
        })
        return { status: 200, body: webhook }
      },
    },

    deleteWebhook: {
      async handle({ caller, params, audit }) {
        const { id, tenant_id, url } = await findWebhook(database, caller, params['id'] ?? '')
        await database.transaction(async (tx) => {
          const { rowCount } = await tx.query('DELETE FROM webhooks WHERE id = $1', [id])
          if (rowCount === 0) throw notFound('The webhook')
          await audit.record(tx, { resource_id: id, tenant_id, details: { origin: originOf(url) } })
        })
        return { status: 204 }
      },
    },

    listWebhookDeliveries: {
      async handle({ caller, params, query }) {
        const { id } = await findWebhook(database, caller, params['id'] ?? '')
        return answerPage(
          query,
          () => countDeliveries(database, id, query.status),
          (slice) => listDeliveries(database, id, { status: query.status, ...slice }),
        )
      },
    },

    redeliverWebhook: {
      async handle(call) {
        const { caller, params } = call
        const { id: webhook_id, tenant_id, events } = await findWebhook(database, caller, params['id'] ?? '')
        const delivery_id = params['delivery_id'] ?? ''
        await findDelivery(database, webhook_id, delivery_id)
        requireReadable(caller, events)
        await recordedCommand(
          { database, broker },
          call,
          { resource_id: webhook_id, tenant_id },
          {
            type: 'webhook.redeliver',
            body: { webhook_id, delivery_id, caller: messageCaller(caller) },
            done: { delivery_id },
          },
        )
        return { status: 202, body: await findDelivery(database, webhook_id, delivery_id) }
      },
    },
  }
}

/** @throws Problem CONFLICT when the tenant has as many webhooks as it may have */
async function requireRoom(tx: Queryable, tenantId: string | null): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.tenantWebhooks("coalesce($1, '')")})`, [tenantId])
  const { rows } = await tx.query<{ count: number }>(
    'SELECT count(*) FROM webhooks WHERE tenant_id IS NOT DISTINCT FROM $1::uuid',
    [tenantId],
  )
  if ((rows[0]?.count ?? 0) >= MAX_PER_TENANT) throw conflict(`There are ${MAX_PER_TENANT} webhooks already`)
}
