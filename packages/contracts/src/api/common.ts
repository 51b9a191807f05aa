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

/** A whole number in a query string. Only the form is checked, because `page` and `limit` are clamped, not refused. */
export const IntegerText = Type.String({ pattern: '^[+-]?[0-9]{1,18}$' })
export const PageQuery = { page: Type.Optional(IntegerText), limit: Type.Optional(IntegerText) }
export const SearchText = Type.String({ maxLength: 255 })
export const TagFilter = Type.String({
  pattern: '^[^=]+(=|$)',
  maxLength: 511,
  description: '`KEY=VALUE`, or `KEY` alone for every value',
})

export const IdempotencyKey = Type.String({
  pattern: '^[!-~]{1,255}$',
  description:
    'Chosen by the caller, 1 to 255 visible ASCII characters. For 24 hours, a call with the same key and body gets the ' +
    'first answer again and creates nothing; another body is 409. Concurrent calls wait for the first. A refused call and ' +
    'a dry run leave the key free. A key counts per user, method and path.',
})
