import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { ErrorCode } from '@slipway/domain'
import { Strict } from '../../schema.ts'
import { Page, PageQuery, SearchText } from '../common.ts'
import type { Permission } from '../permissions.ts'

/**
 * Who may call: `public` (no credential), `sse` (an SSE token in the query), `authenticated` (any bearer), or a
 * permission of the bearer.
 */
export type Access = 'public' | 'sse' | 'authenticated' | Permission

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, with `{name}` for parameters. */
  path: string
  summary: string
  tag: string
  access: Access
  /** `KIND.VERB` of the audit record that each call of it leaves, refused or not; absent on what changes nothing. */
  audit?: string
  /** Each call of it is an attempt to log in, of which an address has few. */
  limit?: 'login'
  /** The codes that it may be refused with beyond those that follow from its access, path, query and body. */
  refusals?: readonly ErrorCode[]
  /** Needs somebody who logged in: an API key is refused, so that it can neither multiply nor take the account over. */
  loginOnly?: true
  /** Its answer sets the refresh cookie; `takes`: that cookie is its credential, too. */
  cookie?: 'sets' | 'takes'
  query?: TObject
  body?: TSchema
  /** Its body is bytes of any kind, which its handler reads as they come. */
  takesBytes?: true
  /** No bytes at all are as good as `{}`. */
  bodyOptional?: boolean
  /** Takes an `Idempotency-Key`: with the same one its effect comes once. */
  idempotent?: true
  /** Schema of the answer by status; null for an empty one, a string for another media type. */
  responses: Record<number, TSchema | string | null>
}

export const op = <const O extends Operation>(operation: O): O => operation

export const listQuery = Strict({ ...PageQuery, search: Type.Optional(SearchText) })

/** A list answers 200 with `{ data, meta }`. */
export const list = <const O extends Pick<Operation, 'path' | 'summary' | 'tag' | 'access'>>(o: O, item: TSchema) =>
  op({ ...o, method: 'GET', query: listQuery, responses: { 200: Page(item) } })
