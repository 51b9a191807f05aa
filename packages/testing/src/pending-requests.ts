import { groupKey, placesOf, type Queryable, rankOf } from '@slipway/database'

/** Fills the columns that follow from the commands of pending requests, as the dispatcher does when it queues them. */
export const deriveQueueColumns = (db: Queryable) =>
  db.query(`UPDATE pending_requests p
      SET rank = ${rankOf('p.priority', 'p.queued_at')}, instance_selector = f.selector, pool_key = md5(f.selector::text)::uuid,
          freeze_subject = f.subject, freeze_key = ${groupKey('f.subject', 'f.selector')}
     FROM (SELECT id, command #> '{plan,instance_selector}' AS selector, jsonb_build_object(
             'tenant_id', tenant_id, 'environment_id', environment_id,
             'solution_id', CASE WHEN command #>> '{plan,source,type}' = 'solution' THEN command #> '{plan,source,id}' END,
             'caller', jsonb_build_object('may_override_freezes', coalesce(command #> '{caller,may_override_freezes}', 'false'),
                                          'tenant_id', command #> '{caller,tenant_id}'),
             'override', coalesce(command -> 'freeze_override', 'null') <> 'null',
             'targets', ${placesOf('command')}) AS subject FROM pending_requests) f
    WHERE p.id = f.id`)
