import type { Queryable, StoredContent } from '@slipway/database'
import { type FieldError, pointer } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'
import { visibleSql } from '../tenancy/visibility.ts'

/**
 * Those of these contents that the caller may read: who has no tenant all; else what they brought, and what a source that
 * they see uses. To know a hash is not enough.
 */
export async function visibleContent(
  db: Queryable,
  { user_id, tenant_id }: Pick<CallingUser, 'user_id' | 'tenant_id'>,
  ids: readonly string[],
): Promise<StoredContent[]> {
  const { rows } = await db.query<StoredContent>(
    `SELECT c.id, c.size, c.upload_id FROM contents c
     WHERE c.id = ANY($1::text[]) AND ($2::uuid IS NULL
       OR EXISTS (SELECT FROM content_uploaders u WHERE u.content_id = c.id AND u.user_id = $3)
       OR EXISTS (SELECT FROM source_contents x JOIN sources s ON s.id = x.source_id
                  WHERE x.content_id = c.id AND ${visibleSql('s', 2)}))`,
    [ids, tenant_id, user_id],
  )
  return rows
}

/** What is wrong with the files of a definition that name content the caller cannot read. */
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
            message: 'is no known content: upload it first, with POST /api/v1/content',
          },
        ],
  )
}
