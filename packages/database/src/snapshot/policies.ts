/** SQL: whether the lock `k` holds. */
export const holds = (k: string) =>
  `(${k}.deployment_id IS NOT NULL AND target_lock_holds(${k}.epoch, ${k}.deployment_id))`

/** SQL: the policy of the target `t`, with its environment `e` and the settings `q`. */
export const POLICY = `coalesce(t.concurrency, e.concurrency, q.target_concurrency)`
export const WITH_POLICY = `LEFT JOIN environments e ON e.id = t.environment_id CROSS JOIN queue_settings q`

/** SQL: whether any target may have a policy other than `allow`. */
export const ANY_POLICY = `(SELECT q.target_concurrency <> 'allow' FROM queue_settings q)
  OR EXISTS (SELECT FROM targets WHERE concurrency <> 'allow')
  OR EXISTS (SELECT FROM environments WHERE concurrency <> 'allow')`
