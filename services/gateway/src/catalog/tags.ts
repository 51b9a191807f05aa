import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../http/handler.ts'
import { answerPage, containsPattern } from './listing.ts'
import { countTags, findTags } from './tags.sql.ts'

export function tagHandlers({ database }: Dependencies): HandlersOf<'listTags'> {
  return {
    listTags: {
      handle({ caller: { tenant_id }, query }) {
        const pattern = containsPattern(query.search)
        return answerPage(
          query,
          async () => (await countTags.one(database, { tenant_id, pattern })).total,
          (slice) => findTags.all(database, { tenant_id, pattern, ...slice }),
        )
      },
    },
  }
}
