import { PARKED } from '../snapshot/rules.sql.ts'
import { type Queryable, statement } from '../sql/statement.ts'
import { int8, nullable, present, text, uuid } from '../sql/types.ts'
import { PENDING } from './pending.sql.ts'
import { type PendingViewer, waitingItems } from './pending.ts'
import { ownSql } from './visibility.ts'

/** More requests of the queue are not looked at. Each costs a decision of the engine. */
const MOST_EXPLAINED = 500

/** The place in its pool is known of the first request alone: counting it reads all requests before. */
const findQueue = statement({
  name: 'database.queue.find-first',
  planEachCall: true,
  parameters: { tenant_id: nullable(uuid), most: int8 },
  row: PENDING.row,
  sql: `SELECT ${PENDING.columns}
      FROM (SELECT q.*, NULL::bigint AS position, CASE WHEN row_number() OVER (ORDER BY q.rank, q.id) = 1
                     THEN waiting_pool_position(q.pool_key, q.rank, q.id) END AS pool_position
              FROM (SELECT * FROM pending_requests p WHERE p.status = 'pending' AND p.rank < ${PARKED} AND ${ownSql('p')}
                     ORDER BY p.rank, p.id LIMIT :most) q) r
     ORDER BY r.rank, r.id`,
})

const findParked = statement({
  name: 'database.queue.find-parked',
  planEachCall: true,
  parameters: { tenant_id: nullable(uuid) },
  row: { waiting_for: present(text), source_name: text, count: int8 },
  sql: `SELECT p.parked_for AS waiting_for, p.source_name, count(*) AS count FROM pending_requests p
     WHERE p.status = 'pending' AND p.rank >= ${PARKED} AND p.parked_for IS NOT NULL AND ${ownSql('p')}
     GROUP BY 1, 2 ORDER BY min(p.queued_at), 2`,
})

/** Requests that wait for the same thing and deploy the same source. */
export interface WaitingRequests {
  waiting_for: string
  /** The instances that they need, if they wait for these; null: any. */
  pool_name: string | null
  source_name: string
  count: number
}

export interface QueueNow {
  /** When the first request probably starts; null: nobody knows. */
  first_estimated_start: Date | null
  /** In the order of the queue, parked ones last. */
  waiting: WaitingRequests[]
}

/** What the requests of the queue wait for that the viewer sees. `tx` must be a transaction, see `pendingItems`. */
export async function readQueueNow(tx: Queryable, viewer: PendingViewer): Promise<QueueNow> {
  const { tenant_id } = viewer
  const [parked, items] = await Promise.all([
    findParked.all(tx, { tenant_id }),
    waitingItems(tx, viewer, findQueue.all(tx, { tenant_id, most: MOST_EXPLAINED })),
  ])
  return {
    first_estimated_start: items[0]?.estimated_start ?? null,
    waiting: [
      ...items.map(({ waiting_for, pool_name, source_name }) => ({ waiting_for, pool_name, source_name, count: 1 })),
      ...parked.map((group) => ({ ...group, pool_name: null })),
    ],
  }
}
