import type { Queryable, StoredContent } from '@slipway/database'
import { type FieldError, pointer } from '@slipway/domain'
import type { CallingUser } from '../callers/calling-user.ts'
import { findVisibleContent } from './visible-content.sql.ts'

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
            message: 'is no known content: upload it first, with POST /api/v1/content',
          },
        ],
  )
}
