import type { Prisma } from '@slipway/database'
import { own, type Viewer } from '@slipway/database/read-models'
import { isUuid, notFound } from '@slipway/domain'

/** Without the secret. */
export const SHOWN = {
  id: true,
  tenant_id: true,
  url: true,
  events: true,
  enabled: true,
  disabled_reason: true,
  created_at: true,
  updated_at: true,
} satisfies Prisma.WebhookSelect

export type WebhookRecord = Prisma.WebhookGetPayload<{ select: typeof SHOWN }>

/** @throws Problem NOT_FOUND, also for a webhook that the viewer may not see */
export async function findWebhook(
  { webhook }: Pick<Prisma.TransactionClient, 'webhook'>,
  viewer: Viewer,
  id: string,
): Promise<WebhookRecord> {
  const found = isUuid(id) ? await webhook.findFirst({ where: { id, AND: own(viewer) }, select: SHOWN }) : null
  if (found === null) throw notFound('The webhook')
  return found
}
