import { type TSchema, Type } from '@sinclair/typebox'
import { Count, describe, Flag, literals, Nullable, Strict, Text } from '../schema.ts'
import { STORY } from '../story.ts'

export const ErrorBody = Strict({
  error: describe(
    Type.Object({
      code: Text(
        'What kind of refusal it is, for programs; `x-error-codes` lists those of each operation',
        'NOT_FOUND',
      ),
      message: Text('What is wrong, for people', 'No target has this id'),
      details: Type.Optional(
        describe(
          Type.Record(Type.String(), Type.Unknown()),
          'More about the refusal, by code. `errors` of VALIDATION_ERROR lists up to 100 problems with their paths in the request; `more` counts the others',
          { errors: [{ path: '/target_ids', message: 'give target_ids or target_tags, or both' }] },
        ),
      ),
    }),
    'Why the request was refused',
  ),
})

export const PageMeta = Strict(
  {
    total: Count('Entries on all pages', 12),
    page: Count('The number of this page, from 1', 1),
    limit: Count('Entries on a full page', 50),
    total_pages: Count('How many pages there are', 1),
    has_next: Flag('Whether a page follows', false),
    has_prev: Flag('Whether a page comes before', false),
    next_cursor: Type.Optional(
      describe(
        Nullable(Type.String()),
        'Only with `cursor` in the request: the `cursor` of the next page; null: nothing follows',
        null,
      ),
    ),
  },
  { description: 'Where this page stands in the list' },
)

export const Page = <T extends TSchema>(item: T) =>
  Strict({ data: describe(Type.Array(item), 'The entries of this page'), meta: PageMeta })

export const Message = Strict({ message: Text('What was done, for people', 'Done') })

/** A whole number in a query string. Only the form is checked, because `page` and `limit` are clamped, not refused. */
export const IntegerText = Type.String({ pattern: '^[+-]?[0-9]{1,18}$' })
export const PageQuery = {
  page: Type.Optional(describe(IntegerText, 'Number of the page, from 1; a smaller number counts as 1', '1')),
  limit: Type.Optional(
    describe(
      IntegerText,
      'Entries on a page, 1 to 100; 50 when omitted. A value out of range becomes the nearest',
      '50',
    ),
  ),
  cursor: Type.Optional(
    describe(
      Type.String({ pattern: '^[A-Za-z0-9_-]{1,8192}$' }),
      'In place of `page`, to read the whole list: `start`, and then `meta.next_cursor` of each answer. The next page begins ' +
        'after the last entry of the answer, whatever was created or deleted meanwhile',
      'start',
    ),
  ),
}
/** The parameter `sort` of a list: `own` is its order without it. */
export const sortBy = <const C extends string>(own: C | `-${C}`, columns: readonly C[]) => ({
  sort: Type.Optional(
    describe(
      literals(columns.flatMap((column): (C | `-${C}`)[] => [column, `-${column}`])),
      `One column, \`-\` for the reverse order; \`${own}\` when omitted. Any other order has pages, no \`cursor\``,
      columns[0],
    ),
  ),
})

/** The parameter `ids` of a list. */
export const amongIds = {
  ids: Type.Optional(
    describe(
      Type.String({ format: 'id-list' }),
      'Only records with these ids, at most 100, separated by commas. Ids that name no visible record are left out. Give `limit` as well',
      STORY.environment,
    ),
  ),
}

export const SearchText = describe(
  Type.String({ maxLength: 255 }),
  'Only entries with this text in their name, in upper or lower case',
  'store',
)
export const TagFilter = Type.String({
  pattern: '^[^=]+(=|$)',
  maxLength: 511,
  description: 'Only targets with this tag: `KEY=VALUE`, or `KEY` alone for every value',
  examples: ['role=web'],
})

export const IdempotencyKey = Type.String({
  pattern: '^[!-~]{1,255}$',
  description:
    'Chosen by the caller, 1 to 255 visible ASCII characters. For 24 hours, a call with the same key and body gets the ' +
    'first answer again and creates nothing; another body is 409. Concurrent calls wait for the first. A refused call and ' +
    'a dry run leave the key free. A key counts per user, method and path.',
  examples: ['pipeline-4711'],
})

export const SseToken = Text('A single-use token, from POST /api/v1/auth/sse-token', 'Vb3kq9vZ0aT2m7Hc1yQxL0pRw')
