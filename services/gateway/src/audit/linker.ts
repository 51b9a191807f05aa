import { type Database, forAllTenants } from '@slipway/database'
import { type ChainHead, hasNewRecords, linkAudit } from '@slipway/database/audit'
import { createTicker, type Logger, measure } from '@slipway/runtime'

const TICK_MS = 1_000
/** How often to link records that were committed after records with higher numbers. */
const LATE_MS = 30_000
const PUBLISH_MS = 60_000

interface AuditLinker {
  published(): ChainHead | null
  stop(): Promise<void>
}

/**
 * Appends new audit records to the chain. Gateways do this one at a time. Each publishes the head every minute as a log line and
 * a metric: a person who can change the database cannot change these.
 */
export function startAuditLinker(database: Database, logger: Logger, publishMs = PUBLISH_MS): AuditLinker {
  let lateAt = 0
  let publishAt = 0
  let published: ChainHead | null = null

  async function link(): Promise<void> {
    const late = performance.now() >= lateAt
    const isDue = late || performance.now() >= publishAt || (await forAllTenants(() => hasNewRecords(database)))
    if (!isDue) return
    const head = await forAllTenants(() => linkAudit(database, { late }))
    if (head === null) return
    if (late && !head.more) lateAt = performance.now() + LATE_MS
    if (performance.now() >= publishAt) publish(head)
    if (head.more) await link()
  }

  function publish({ position, hash }: ChainHead): void {
    if (published !== null && position < published.position) {
      logger.error('the audit chain lost links at its end: run audit-verify with --expect', {
        position,
        expected: `${published.position}:${published.hash}`,
      })
    }
    logger.info('the head of the audit chain', { position, hash })
    published = { position, hash }
    publishAt = performance.now() + publishMs
  }

  const ticker = createTicker({ name: 'audit-chain', intervalMs: TICK_MS, logger, run: link })
  return {
    published: () => published,
    async stop() {
      await ticker.stop()
      // This may be the last gateway for a long time.
      await forAllTenants(() => linkAudit(database, { late: true }))
    },
  }
}

/** The label has one value at a time, and a new one once a minute at most. */
export function measureAuditHead(linker: AuditLinker): void {
  const help = 'Position of the last link of the audit chain; the label is its hash'
  measure('audit_head', { slipway_audit_head: { help, label: 'hash' } }, () => {
    const head = linker.published()
    return { slipway_audit_head: head === null ? {} : { [head.hash]: head.position } }
  })
}
