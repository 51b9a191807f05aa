import { type Database, forAllTenants, linkAudit } from '@slipway/database'
import { createTicker, type Logger } from '@slipway/runtime'

const TICK_MS = 1_000
/** How often to look for records that were committed after ones with higher numbers. */
const LATE_MS = 30_000
/** How often the head goes to the log, where it is out of reach of whoever can change the database. */
const NOTE_MS = 600_000

/** Keeps the chain of the audit log up to date. Any number of gateways may; one at a time appends. */
export function startAuditLinker(database: Database, logger: Logger): { stop(): Promise<void> } {
  let lateAt = 0
  let noted = { at: 0, position: 0 }

  async function link(): Promise<void> {
    const late = performance.now() >= lateAt
    const head = await forAllTenants(() => linkAudit(database, { late }))
    if (head === null) return
    if (late && !head.more) lateAt = performance.now() + LATE_MS
    const { position, hash } = head
    if (position > noted.position && performance.now() >= noted.at) {
      logger.info('the head of the audit chain', { position, hash })
      noted = { at: performance.now() + NOTE_MS, position }
    }
    if (head.more) await link()
  }

  const ticker = createTicker({ name: 'audit-chain', intervalMs: TICK_MS, logger, run: link })
  return {
    async stop() {
      await ticker.stop()
      // Nobody may come after us for a long time.
      await forAllTenants(() => linkAudit(database, { late: true }))
    },
  }
}
