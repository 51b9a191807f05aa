import { randomBytes } from 'node:crypto'
import type { ChangeWebhook, CreateWebhook, Static } from '@slipway/contracts'
import { LOCK_KEYS_BY_VALUE, nullable, type Prisma, statement, type Transaction, uuid } from '@slipway/database'
import { conflict } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { escapeLike } from '../pages.ts'
import { changesOf } from '../records/changes.ts'
import { type Change, type Creation, recordHandlers } from '../records/handlers.ts'
import { type RecordOf, recordKind } from '../records/kind.ts'
import { PRIVATE } from '../records/ownership.ts'
import { fieldReferences } from '../records/references.ts'
import { tableOf } from '../records/table.ts'
import { checkUrl, requireCallable, requireReadable } from './rules.ts'

/** Without the secret. */
const SHOWN = {
  id: true,
  tenant_id: true,
  url: true,
  events: true,
  enabled: true,
  disabled_reason: true,
  created_at: true,
  updated_at: true,
} satisfies Prisma.WebhookSelect

export const WEBHOOK = recordKind({
  name: 'webhook',
  resource: 'webhooks',
  table: tableOf('webhook', { select: SHOWN }),
  owner: PRIVATE,
})

/** Limited, because each event is written once per webhook. */
const MAX_PER_TENANT = 100
const SECRET_BYTES = 32

const newSecret = () => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
/** What the secret of a webhook is sealed for. The dispatcher opens it. */
const identity = (id: string) => `webhook:${id}:secret`
/** For the audit log: path and query of a URL may contain a token. */
const originOf = (url: string) => new URL(url).origin
const audited = ({ url, events, enabled }: Pick<WebhookRow, 'url' | 'events' | 'enabled'>) => ({
  origin: originOf(url),
  events,
  enabled,
})

type WebhookRow = RecordOf<typeof WEBHOOK>
type WebhookInput = Static<typeof CreateWebhook>
type WebhookChange = Static<typeof ChangeWebhook>
type WebhookOperation = `${'create' | 'get' | 'update' | 'delete'}Webhook` | 'listWebhooks'

export function webhookHandlers(dependencies: Dependencies): HandlersOf<WebhookOperation> {
  const { keys, webhookDestinations } = dependencies

  const handlers = recordHandlers(dependencies, WEBHOOK, {
    show: (rows) => rows,
    matching: ({ search = '' }) => ({ url: { contains: escapeLike(search), mode: 'insensitive' as const } }),
    check: checkUrl,
    authorize: (caller, body) => requireReadable(caller, (body as { events?: unknown } | null)?.events),
    async prepareCreate({ body: given, resolve }) {
      const body = given as WebhookInput
      const references = await resolve(fieldReferences(body, { tenant_id: 'tenant' }))
      await requireCallable(body.url, webhookDestinations)
      return { body, references }
    },
    async create({ tx, id, tenant_id, body }: Creation<WebhookInput>) {
      await requireRoom(tx, tenant_id)
      const secret = body.secret ?? newSecret()
      const fields = { url: body.url, events: body.events, enabled: body.enabled ?? true }
      return {
        columns: { id, tenant_id, ...fields, secret_sealed: keys.seal(secret, identity(id)) },
        details: audited(fields),
        answer: body.secret === undefined ? { secret } : {},
      }
    },
    async prepareUpdate({ body: given, resolve }) {
      const body = given as WebhookChange
      if (body.url !== undefined) await requireCallable(body.url, webhookDestinations)
      return { body, references: await resolve([]) }
    },
    async update({ caller, old, body }: Change<WebhookRow, WebhookChange>) {
      const { id, url, events, enabled } = { ...old, ...body }
      requireReadable(caller, events)
      return {
        columns: {
          url,
          events,
          enabled,
          ...(body.secret === undefined ? {} : { secret_sealed: keys.seal(body.secret, identity(id)) }),
          ...(body.enabled === undefined ? {} : { disabled_reason: null }),
          // Another receiver starts without the timeouts of the former one.
          ...(url === old.url ? {} : { consecutive_timeouts: 0 }),
        },
        details: {
          changes: changesOf(audited(old), audited({ url, events, enabled })),
          url_changed: url !== old.url,
          secret_changed: body.secret !== undefined,
        },
      }
    },
    deleted: ({ url }) => ({ origin: originOf(url) }),
  })

  return {
    listWebhooks: handlers.list,
    createWebhook: handlers.create,
    getWebhook: handlers.get,
    updateWebhook: handlers.update,
    deleteWebhook: handlers.delete,
  }
}

/** One transaction at a time adds a webhook to a tenant. */
const lockWebhooksOf = statement({
  name: 'gateway.webhooks.lock-of-tenant',
  parameters: { tenant_id: nullable(uuid) },
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS_BY_VALUE.tenantWebhooks(`coalesce(:tenant_id::uuid::text, '')`)})`,
})

/** @throws Problem CONFLICT if the tenant has too many webhooks */
async function requireRoom(tx: Transaction, tenant_id: string | null): Promise<void> {
  const prisma = await tx.prisma()
  await lockWebhooksOf.run(tx, { tenant_id })
  const count = await prisma.webhook.count({ where: { tenant_id } })
  if (count >= MAX_PER_TENANT)
    throw conflict(`There are ${MAX_PER_TENANT} webhooks, the most that a tenant may have; delete one first`)
}
