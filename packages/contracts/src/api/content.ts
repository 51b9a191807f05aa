import { Type } from '@sinclair/typebox'
import { ContentId, Count, describe, NullableMoment, Ref, Strict, Text, Version } from '../schema.ts'

export const MAX_CONTENT_BYTES = 1024 ** 3

const content = {
  id: ContentId,
  size: describe(Type.Integer({ minimum: 0, maximum: MAX_CONTENT_BYTES }), 'Bytes', 18_432),
}
export const Content = Strict(content)

/** How many users of content a list names. */
export const CONTENT_USES = 3

export const ListedContent = Strict({
  ...content,
  uploaded_at: NullableMoment(
    'When it was last uploaded: by a user of the tenant of the caller, or by anybody if the caller has none. Null: the tenant ' +
      'did not upload it, and an action uses it',
  ),
  version_count: Count(
    'How many versions of actions use it, of those that the caller may see. Content that no version uses is deleted some ' +
      'days after its last upload',
    1,
  ),
  used_by: describe(
    Type.Array(Strict({ action_id: Ref('action'), action_name: Text('Its name', 'restart'), version: Version }), {
      maxItems: CONTENT_USES,
    }),
    `The newest of these versions, at most ${CONTENT_USES}`,
  ),
})

export const CONTENT_DIGEST =
  'SHA-256 of the body, as in RFC 9530: `sha-256=:<base64>:`. A body with another hash is refused and not stored'
