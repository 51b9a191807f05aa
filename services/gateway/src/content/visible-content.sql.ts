import { array, int8, nullable, statement, text, uuid } from '@slipway/database'
import { visibleSql } from '@slipway/database/read-models'

/** Content that the user uploaded, or that a visible source uses. Users without a tenant see all content. */
export const findVisibleContent = statement({
  name: 'gateway.content.find-visible',
  parameters: { ids: array(text), tenant_id: nullable(uuid), user_id: uuid },
  row: { id: text, size: int8, upload_id: uuid },
  sql: `SELECT c.id, c.size, c.upload_id FROM contents c
     WHERE c.id = ANY (:ids) AND (:tenant_id::uuid IS NULL
       OR EXISTS (SELECT FROM content_uploaders u WHERE u.content_id = c.id AND u.user_id = :user_id)
       OR EXISTS (SELECT FROM source_contents x JOIN sources s ON s.id = x.source_id
                   WHERE x.content_id = c.id AND ${visibleSql('s')}))`,
})
