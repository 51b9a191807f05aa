import type { CommandBody } from '@slipway/contracts'
import { enqueue, eventMessage, type Queryable } from '@slipway/database'
import type { FreezeSubject } from '@slipway/domain'
import type { FreezesNow } from '../freezes/held.ts'

/** Puts a request into the queue, under the id of its command. */
export async function enqueueRequest(
  tx: Queryable,
  command: CommandBody<'deployment.start'>,
  requestId: string | null,
): Promise<void> {
  const { command_id, plan, caller } = command
  const { tenant, environment } = plan
  await tx.query(
    `INSERT INTO pending_requests (id, priority, tenant_id, tenant_name, environment_id, environment_name, triggered_by,
                                   command, request_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      command_id,
      plan.options.priority,
      tenant?.id ?? null,
      tenant?.name ?? null,
      environment?.id ?? null,
      environment?.name ?? null,
      caller.username,
      JSON.stringify(command),
      requestId,
    ],
  )
  await enqueue(tx, [
    eventMessage('pending.created', {
      pending_request_id: command_id,
      tenant_id: tenant?.id ?? null,
      status: 'pending',
    }),
  ])
}

/** Whether anything of at least this priority waits, for whatever reason. */
export async function anyWaiting(tx: Queryable, priority: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `SELECT FROM pending_requests WHERE status = 'pending' AND priority >= $1 LIMIT 1`,
    [priority],
  )
  return rowCount === 1
}

interface Waiting extends FreezeSubject {
  id: string
  priority: number
  queued_at: Date
}

const PAGE = 200

/**
 * The ids of the requests whose turn it is, in order: priority, then age. Those that a freeze holds are passed over, and
 * so is for a moment one whose dispatch has just failed.
 */
export async function nextWaiting(
  tx: Queryable,
  freezes: FreezesNow,
  { limit, minPriority = null }: { limit: number; minPriority?: number | null },
): Promise<string[]> {
  const found: string[] = []
  let last: Waiting | undefined
  do {
    // Without freezes the first page is the answer, and the commands need not be read.
    const page = await readPage(tx, { freezes, minPriority, last, size: freezes.none ? limit : PAGE })
    for (const request of page) {
      if (freezes.none || !freezes.judge(request).blocked) found.push(request.id)
      if (found.length === limit) return found
    }
    last = page.length === PAGE && !freezes.none ? page.at(-1) : undefined
  } while (last)
  return found
}

async function readPage(
  tx: Queryable,
  page: { freezes: FreezesNow; minPriority: number | null; last: Waiting | undefined; size: number },
): Promise<Waiting[]> {
  const subject = page.freezes.none
    ? ''
    : `, tenant_id, environment_id, command -> 'caller' AS caller, command -> 'freeze_override' <> 'null' AS override,
       CASE WHEN command #>> '{plan,source,type}' = 'solution' THEN command #>> '{plan,source,id}' END AS solution_id`
  const { rows } = await tx.query<Waiting>(
    `SELECT id, priority, queued_at ${subject}
       FROM pending_requests
      WHERE status = 'pending'
        AND ($1::int IS NULL OR priority >= $1)
        AND (last_retry_at IS NULL OR last_retry_at < now() - make_interval(secs => retry_count))
        AND ($2::int IS NULL OR priority < $2 OR (priority = $2 AND (queued_at, id) > ($3::timestamptz, $4::uuid)))
      ORDER BY priority DESC, queued_at, id
      LIMIT $5`,
    [page.minPriority, page.last?.priority ?? null, page.last?.queued_at ?? null, page.last?.id ?? null, page.size],
  )
  return rows
}
