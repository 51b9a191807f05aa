import { bool, bytea, int4, int8, nullable, statement, text, uuid } from '@slipway/database'

export const insertUpload = statement({
  name: 'gateway.content.insert-upload',
  parameters: { id: uuid, tenant_id: nullable(uuid) },
  sql: 'INSERT INTO content_uploads (id, tenant_id) VALUES (:id, :tenant_id)',
})

/** Writes nothing if the upload was deleted. */
export const insertChunk = statement({
  name: 'gateway.content.insert-chunk',
  parameters: { upload_id: uuid, number: int4, bytes: bytea },
  sql: `WITH upload AS (UPDATE content_uploads SET touched_at = now() WHERE id = :upload_id RETURNING id)
    INSERT INTO content_chunks (upload_id, number, bytes) SELECT id, :number, :bytes FROM upload`,
})

/** Returns the upload with the chunks of the content. */
export const keepContent = statement({
  name: 'gateway.content.keep',
  parameters: { id: text, size: int8, upload_id: uuid },
  row: { upload_id: uuid },
  sql: `INSERT INTO contents (id, size, upload_id) VALUES (:id, :size, :upload_id)
    ON CONFLICT (id) DO UPDATE SET uploaded_at = now() RETURNING upload_id`,
})

export const keepForTenant = statement({
  name: 'gateway.content.keep-for-tenant',
  parameters: { id: text, tenant_id: nullable(uuid), size: int8 },
  sql: `INSERT INTO content_tenants (content_id, tenant_id, size) VALUES (:id, :tenant_id, :size)
    ON CONFLICT (content_id, tenant_id) DO UPDATE SET uploaded_at = now()`,
})

/** Like `keepContent`, without a lock on content that is there, and without a wait for one. */
export const addContent = statement({
  name: 'gateway.content.add',
  parameters: { id: text, size: int8, upload_id: uuid },
  sql: `INSERT INTO contents (id, size, upload_id) SELECT :id, :size, :upload_id
     WHERE NOT EXISTS (SELECT FROM contents WHERE id = :id) ON CONFLICT DO NOTHING`,
})

/** Like `keepForTenant`, for content that the tenant does not have yet. */
export const addForTenant = statement({
  name: 'gateway.content.add-for-tenant',
  parameters: { id: text, tenant_id: nullable(uuid), size: int8 },
  sql: `INSERT INTO content_tenants (content_id, tenant_id, size) VALUES (:id, :tenant_id, :size) ON CONFLICT DO NOTHING`,
})

export const isOfTenant = statement({
  name: 'gateway.content.is-of-tenant',
  parameters: { id: text, tenant_id: nullable(uuid) },
  row: { known: bool },
  sql: `SELECT EXISTS (SELECT FROM content_tenants
     WHERE content_id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id) AS known`,
})

export const dropReservation = statement({
  name: 'gateway.content.drop-reservation',
  parameters: { upload_id: uuid },
  sql: 'UPDATE content_uploads SET reserved_bytes = 0 WHERE id = :upload_id',
})

export const touchContent = statement({
  name: 'gateway.content.touch',
  parameters: { id: text },
  sql: 'UPDATE contents SET uploaded_at = now() WHERE id = :id',
})

export const touchForTenant = statement({
  name: 'gateway.content.touch-for-tenant',
  parameters: { id: text, tenant_id: nullable(uuid) },
  sql: `UPDATE content_tenants SET uploaded_at = now()
     WHERE content_id = :id AND tenant_id IS NOT DISTINCT FROM :tenant_id`,
})

/** Deletes an upload, unless its chunks have become content. */
export const deleteUpload = statement({
  name: 'gateway.content.delete-upload',
  parameters: { id: uuid },
  sql: `DELETE FROM content_uploads u
     WHERE id = :id AND NOT EXISTS (SELECT FROM contents c WHERE c.upload_id = u.id)`,
})

export const insertUploader = statement({
  name: 'gateway.content.insert-uploader',
  parameters: { content_id: text, user_id: uuid },
  sql: 'INSERT INTO content_uploaders (content_id, user_id) VALUES (:content_id, :user_id) ON CONFLICT DO NOTHING',
})
