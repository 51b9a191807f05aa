import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { visibleSql } from '../tenancy/visibility.ts'
import { answerPage, escapeLike } from './listing.ts'

/** Tags live on targets: this lists those in use, by key, then value. */
export function tagHandlers({ database }: Dependencies): HandlersOf<'listTags'> {
  return {
    listTags: {
      handle({ caller, query }) {
        const search = query.search === undefined ? null : `%${escapeLike(query.search)}%`
        const inUse = `
          SELECT g.key, g.value, count(*)::int AS target_count
          FROM target_tags g JOIN targets t ON t.id = g.target_id
          WHERE ${visibleSql('t', 1)} AND ($2::text IS NULL OR g.key || '=' || g.value ILIKE $2)
          GROUP BY g.key, g.value`
        const parameters = [caller.tenant_id, search]
        return answerPage(
          query,
          async () => {
            const { rows } = await database.query<{ total: number }>(
              `SELECT count(*)::int AS total FROM (${inUse}) t`,
              parameters,
            )
            return rows[0]?.total ?? 0
          },
          async ({ skip, take }) => {
            const page = `${inUse} ORDER BY g.key, g.value LIMIT $3 OFFSET $4`
            return (await database.query(page, [...parameters, take, skip])).rows
          },
        )
      },
    },
  }
}
