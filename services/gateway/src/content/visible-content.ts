import { array, int8, nullable, type Queryable, type StoredContent, statement, text, uuid } from '@slipway/database'
import { visibleSql } from '@slipway/database/read-models'
import { type FieldError, pointer } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'

/** Content that the user uploaded, or that a visible source uses. Users without a tenant see all content. */
const findVisibleContent = statement({
  name: 'gateway.content.find-visible',
  parameters: { ids: array(text), tenant_id: nullable(uuid), user_id: uuid },
  row: { id: text, size: int8, upload_id: uuid },
  sql: `SELECT c.id, c.size, c.upload_id FROM contents c
     WHERE c.id = ANY (:ids) AND (:tenant_id::uuid IS NULL
       OR EXISTS (SELECT FROM content_uploaders u WHERE u.content_id = c.id AND u.user_id = :user_id)
       OR EXISTS (SELECT FROM source_contents x JOIN sources s ON s.id = x.source_id
                   WHERE x.content_id = c.id AND ${visibleSql('s')}))`,
})

/** Finds those of these contents that the caller may read. Knowing the hash gives no right to read. */
export function visibleContent(
  db: Queryable,
  { user_id, tenant_id }: Pick<CallingUser, 'user_id' | 'tenant_id'>,
  ids: readonly string[],
): Promise<StoredContent[]> {
  return findVisibleContent.all(db, { ids, tenant_id, user_id })
}

export async function fileProblems(
  db: Queryable,
  caller: CallingUser,
  files: readonly { content: string }[],
): Promise<FieldError[]> {
  if (files.length === 0) return []
  const found = await visibleContent(db, caller, [...new Set(files.map(({ content }) => content))])
  const known = new Set(found.map(({ id }) => id))
  return files.flatMap(({ content }, index) =>
    known.has(content)
      ? []
      : [
          {
            path: pointer('definition', 'files', index, 'content'),
            message: 'is not in the content store: upload the file first',
          },
        ],
  )
}
