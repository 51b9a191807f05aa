import { Type } from '@sinclair/typebox'
import { ContentId, describe, Strict } from '../schema.ts'

export const MAX_CONTENT_BYTES = 1024 ** 3

export const Content = Strict({
  id: ContentId,
  size: describe(Type.Integer({ minimum: 0, maximum: MAX_CONTENT_BYTES }), 'Bytes', 18_432),
})

export const CONTENT_DIGEST =
  'SHA-256 of the body, as in RFC 9530: `sha-256=:<base64>:`. A body with another hash is refused and not stored'
