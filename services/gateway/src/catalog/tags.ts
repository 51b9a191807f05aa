import { int8, nullable, statement, text, uuid } from '@slipway/database'
import { visibleSql } from '@slipway/database/read-models'
import type { ListOrder } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { afterKeySql, pageColumns } from '../pages.sql.ts'
import { answerPage, containsPattern } from '../pages.ts'

const parameters = { tenant_id: nullable(uuid), pattern: nullable(text) }
const inUse = (condition = 'true') => `SELECT g.key, g.value, count(*) AS target_count
      FROM target_tags g JOIN targets t ON t.id = g.target_id
     WHERE ${visibleSql('t')} AND (:pattern::text IS NULL OR g.key || '=' || g.value ILIKE :pattern)
       AND ${condition}
     GROUP BY g.key, g.value`

const countTags = statement({
  name: 'gateway.tags.count',
  parameters,
  row: { total: int8 },
  sql: `SELECT count(*) AS total FROM (${inUse()}) t`,
})

const findTags = statement({
  name: 'gateway.tags.find-page',
  parameters: { ...parameters, ...pageColumns },
  row: { key: text, value: text, target_count: int8 },
  sql: `${inUse(afterKeySql('ascending', ['g.key', 'text'], ['g.value', 'text']))} ORDER BY g.key, g.value LIMIT :take OFFSET :skip`,
})

const BY_TAG: ListOrder<{ key: string; value: string }> = {
  list: 'tags',
  kinds: ['text', 'text'],
  keyOf: ({ key, value }) => [key, value],
}

export function tagHandlers({ database }: Dependencies): HandlersOf<'listTags'> {
  return {
    listTags: {
      handle({ caller: { tenant_id }, query }) {
        const pattern = containsPattern(query.search)
        return answerPage(
          query,
          BY_TAG,
          async () => (await countTags.one(database, { tenant_id, pattern })).total,
          (slice) => findTags.all(database, { tenant_id, pattern, ...slice }),
        )
      },
    },
  }
}
