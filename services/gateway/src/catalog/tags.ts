import type { ListOrder } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { answerPage, containsPattern } from '../pages.ts'
import { countTags, findTags } from './tags.sql.ts'

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
