import { type TSchema, Type } from '@sinclair/typebox'
import { Strict } from '../schema.ts'

export const ErrorBody = Strict({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
})

export const PageMeta = Strict({
  total: Type.Integer(),
  page: Type.Integer(),
  limit: Type.Integer(),
  total_pages: Type.Integer(),
  has_next: Type.Boolean(),
  has_prev: Type.Boolean(),
})

export const Page = <T extends TSchema>(item: T) => Strict({ data: Type.Array(item), meta: PageMeta })

export const Message = Strict({ message: Type.String() })

/**
 * Values of a query string arrive as text. `page` and `limit` are clamped, not refused, so only their form is checked:
 * an optional sign and digits.
 */
export const IntegerText = Type.String({ pattern: '^[+-]?[0-9]{1,18}$' })
export const PageQuery = { page: Type.Optional(IntegerText), limit: Type.Optional(IntegerText) }
export const SearchText = Type.String({ maxLength: 255 })

/** Visible characters of ASCII, as everything in a header that is not text for people. */
export const IdempotencyKey = Type.String({
  pattern: '^[!-~]{1,255}$',
  description:
    'Chosen by the caller, 1 to 255 visible characters. For 24 hours the same key with the same body gives the first ' +
    'answer again and creates nothing; with another body it is 409. Of several calls at once the others wait for the ' +
    'first. Refusals are not kept: after one the key is free. Keys are those of the user, the method and the path. A ' +
    'dry run creates nothing and leaves the key free.',
})
