import { int8, json, nullable, statement, text, timestamptz, uuid } from '@slipway/database'
import { visibleSql } from '@slipway/database/read-models'
import { pageColumns } from '../pages.sql.ts'

const viewer = { tenant_id: nullable(uuid), user_id: uuid }

/** SQL: the ids of the content that `findVisibleContent` would find. */
const VISIBLE = `SELECT u.content_id AS id FROM content_uploaders u WHERE u.user_id = :user_id
      UNION SELECT x.content_id FROM source_contents x JOIN sources s ON s.id = x.source_id WHERE ${visibleSql('s')}
      UNION SELECT c.id FROM contents c WHERE :tenant_id::uuid IS NULL`

export const countContent = statement({
  name: 'gateway.content.count',
  parameters: viewer,
  row: { total: int8 },
  sql: `SELECT count(*) AS total FROM (${VISIBLE}) v`,
})

/** SQL: whether the row `k` comes after `:after`: uploaded before or, in the order of the ids, at the same time. */
const AFTER = `(:after::text[] IS NULL
       OR coalesce(k.uploaded_at, '-infinity') < (:after::text[])[1]::timestamptz
       OR (coalesce(k.uploaded_at, '-infinity') = (:after::text[])[1]::timestamptz AND k.id > (:after::text[])[2]))`

/** Content, last uploaded first. What other tenants uploaded makes no difference to the answer. */
export const findContent = statement({
  name: 'gateway.content.find-page',
  parameters: { ...viewer, uses: int8, ...pageColumns },
  row: {
    id: text,
    size: int8,
    uploaded_at: nullable(timestamptz),
    version_count: int8,
    used_by: json<{ action_id: string; action_name: string; version: string }[]>(),
  },
  sql: `SELECT p.id, c.size, p.uploaded_at, n.version_count, n.used_by
      FROM (SELECT k.id, k.uploaded_at
              FROM (SELECT v.id, coalesce(t.uploaded_at, c.uploaded_at) AS uploaded_at FROM (${VISIBLE}) v
                      LEFT JOIN contents c ON :tenant_id::uuid IS NULL AND c.id = v.id
                      LEFT JOIN content_tenants t ON t.content_id = v.id AND t.tenant_id = :tenant_id) k
             WHERE ${AFTER}
             ORDER BY k.uploaded_at DESC NULLS LAST, k.id LIMIT :take OFFSET :skip) p
      JOIN contents c ON c.id = p.id,
           LATERAL (
             SELECT count(*) AS version_count,
                    coalesce(json_agg(json_build_object('action_id', w.id, 'action_name', w.name, 'version', w.version)
                                      ORDER BY w.place) FILTER (WHERE w.place <= :uses), '[]') AS used_by
               FROM (SELECT s.id, s.name, x.version, row_number() OVER (ORDER BY v.created_at DESC, s.id, x.version) AS place
                       FROM source_contents x JOIN sources s ON s.id = x.source_id
                       JOIN source_versions v ON v.source_id = x.source_id AND v.version = x.version
                      WHERE x.content_id = p.id AND ${visibleSql('s')}) w) n
     ORDER BY p.uploaded_at DESC NULLS LAST, p.id`,
})
