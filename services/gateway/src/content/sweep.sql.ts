import { array, int4, int8, statement, text, uuid } from '@slipway/database'

const UNUSED = `uploaded_at < now() - make_interval(days => :days)
       AND NOT EXISTS (SELECT FROM source_contents x WHERE x.content_id = c.id)`

export const findUnused = statement({
  name: 'gateway.content.find-unused',
  parameters: { days: int4, held: array(text), limit: int8 },
  row: { id: text },
  sql: `SELECT id FROM contents c WHERE ${UNUSED} AND id <> ALL (:held) ORDER BY uploaded_at LIMIT :limit`,
})

/** A concurrent transaction that refers to the content either holds a lock on the row, or fails on the foreign key. */
export const deleteUnused = statement({
  name: 'gateway.content.delete-unused',
  parameters: { days: int4, ids: array(text) },
  row: { id: text },
  sql: `DELETE FROM contents WHERE id IN (
      SELECT id FROM contents c WHERE ${UNUSED} AND id = ANY (:ids) ORDER BY id FOR UPDATE SKIP LOCKED)
    RETURNING id`,
})

/**
 * Removes unused content from the quota of a tenant, while other tenants still use it. The users of the tenant lose access to the
 * content. Otherwise they could use it again without a charge.
 */
export const dropUnusedClaims = statement({
  name: 'gateway.content.drop-unused-claims',
  parameters: { days: int4, limit: int8 },
  sql: `WITH dropped AS (
      DELETE FROM content_tenants WHERE id IN (
        SELECT id FROM content_tenants t
         WHERE uploaded_at < now() - make_interval(days => :days)
           AND NOT EXISTS (SELECT FROM source_contents x JOIN sources s ON s.id = x.source_id
                            WHERE x.content_id = t.content_id AND (t.tenant_id IS NULL OR s.tenant_id = t.tenant_id))
         ORDER BY uploaded_at LIMIT :limit FOR UPDATE SKIP LOCKED)
      RETURNING content_id, tenant_id)
    DELETE FROM content_uploaders u USING dropped d, users w
     WHERE u.content_id = d.content_id AND w.id = u.user_id AND w.tenant_id IS NOT DISTINCT FROM d.tenant_id`,
})

/** 15 minutes are longer than an upload may pause. */
const BROKEN = `touched_at < now() - interval '15 minutes'
       AND NOT EXISTS (SELECT FROM contents c WHERE c.upload_id = u.id)`

export const findBrokenUploads = statement({
  name: 'gateway.content.find-broken-uploads',
  parameters: { held: array(text), limit: int8 },
  row: { id: uuid },
  sql: `SELECT id FROM content_uploads u WHERE ${BROKEN} AND id::text <> ALL (:held) ORDER BY touched_at LIMIT :limit`,
})

export const deleteBrokenUpload = statement({
  name: 'gateway.content.delete-broken-upload',
  parameters: { id: uuid },
  sql: `DELETE FROM content_uploads WHERE id IN (
      SELECT id FROM content_uploads u WHERE ${BROKEN} AND id = :id FOR UPDATE SKIP LOCKED)`,
})
