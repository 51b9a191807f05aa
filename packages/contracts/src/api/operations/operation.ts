import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { ErrorCode, Permission, Resource } from '@slipway/domain'
import { describe, ManagerName, Strict } from '../../schema.ts'
import { Page, PageQuery, SearchText } from '../common.ts'
import { expectedUpdate } from '../records.ts'

/**
 * Who may call: `public` (no credential), `sse` (an SSE token in the query), `authenticated` (any bearer), or a
 * permission of the bearer.
 */
export type Access = 'public' | 'sse' | 'authenticated' | Permission

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to `/api/v1`, with `{name}` for parameters. */
  path: string
  summary: string
  /** What it does and what callers should know, beyond the summary. */
  description: string
  tag: string
  access: Access
  /** `KIND.VERB` of the audit record of each call, refused ones too. Absent if the operation changes nothing. */
  audit?: string
  /**
   * Refusals leave a record only if the handler has said whom they are about. Strangers must not fill the audit log with calls that
   * concern no account and no provider.
   */
  auditsNamedRefusals?: true
  /**
   * The limit of an address that the call counts for, whatever its body is. `login`: an attempt to log in. `provider_login`: a step of
   * a login with a provider. `exchange`: only refused calls count.
   */
  limit?: 'login' | 'provider_login' | 'exchange'
  /** Codes of refusals beyond those that follow from access, path, query and body. */
  refusals?: readonly ErrorCode[]
  /** Refuses API keys and service accounts: a leaked key must not create other keys or take the account over. */
  loginOnly?: true
  /** The answer sets the refresh cookie, or clears it. `takes`: the cookie is also the credential of the call. */
  cookie?: 'sets' | 'takes' | 'clears'
  query?: TObject
  body?: TSchema
  /** The most bytes of the body, if not 1 MiB. */
  maxBodyBytes?: number
  /** The body may be form-encoded, too. All its fields are texts. */
  takesForm?: true
  /** The body is any bytes. The handler reads them as they arrive. */
  takesBytes?: true
  /** An empty body counts as `{}`. */
  bodyOptional?: boolean
  /** Accepts an `Idempotency-Key`: calls with the same key take effect once. */
  idempotent?: true
  /** Headers of the answer with their descriptions. Their values are integers. */
  answerHeaders?: Record<string, string>
  /** The schema of the answer by status; null for an empty answer, a string for another media type. */
  responses: Record<number, TSchema | string | null>
}

export const op = <const O extends Operation>(operation: O): O => operation

/** The parameters of a list, where `search` looks into something else than the name. */
export const listQueryWith = (search: string, example = 'store') =>
  Strict({ ...PageQuery, search: Type.Optional(describe(SearchText, search, example)) })

export const listQuery = Strict({ ...PageQuery, search: Type.Optional(SearchText) })

type ListOperation = Pick<Operation, 'path' | 'summary' | 'description' | 'tag' | 'access' | 'refusals'>

export const list = <const O extends ListOperation>(o: O, item: TSchema, query = listQuery) =>
  op({ ...o, method: 'GET', query, responses: { 200: Page(item) } })

/** The parameters of a list of records that file sets describe. */
export const managedListQuery = Strict({
  ...listQuery.properties,
  managed_by: Type.Optional(describe(ManagerName, 'Only records of this file set of `slipway apply`', 'shop/catalog')),
})

const aOrAn = (kind: string) => `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`

interface RecordTexts {
  list: string
  create: string
  get: string
  update: string
  delete: string
}

/** The five operations of a kind of record. `about` has their descriptions, `summaries` those summaries that are not the usual ones. */
export function recordOperations<
  const K extends string,
  const R extends Resource,
  Create extends TSchema,
  Update extends TSchema,
  Query extends TObject,
>({
  kind,
  resource,
  path = `/${resource}`,
  record,
  create,
  update,
  listed = record,
  created = record,
  query,
  about,
  summaries = {},
  refusals,
}: {
  kind: K
  resource: R
  path?: string
  record: TSchema
  create: Create
  update: Update
  /** What a list shows of a record. */
  listed?: TSchema
  /** The answer of a create. */
  created?: TSchema
  query: Query
  about: RecordTexts
  summaries?: Partial<RecordTexts>
  /** Of all operations that show a stored record. */
  refusals?: readonly ErrorCode[]
}) {
  const access = <const V extends 'read' | 'create' | 'update' | 'delete'>(verb: V) => `${resource}:${verb}` as const
  const shows = refusals === undefined ? {} : { refusals }
  return {
    list: op({
      method: 'GET',
      path,
      summary: summaries.list ?? `List ${resource}`,
      description: about.list,
      tag: resource,
      access: access('read'),
      ...shows,
      query,
      responses: { 200: Page(listed) },
    }),
    create: op({
      method: 'POST',
      path,
      audit: `${kind}.create` as const,
      summary: summaries.create ?? `Create ${aOrAn(kind)}`,
      description: about.create,
      tag: resource,
      access: access('create'),
      body: create,
      responses: { 201: created },
    }),
    get: op({
      method: 'GET',
      path: `${path}/{id}`,
      summary: summaries.get ?? `Read ${aOrAn(kind)}`,
      description: about.get,
      tag: resource,
      access: access('read'),
      ...shows,
      responses: { 200: record },
    }),
    update: op({
      method: 'PATCH',
      path: `${path}/{id}`,
      audit: `${kind}.update` as const,
      summary: summaries.update ?? `Change ${aOrAn(kind)}`,
      description: about.update,
      tag: resource,
      access: access('update'),
      ...shows,
      body: update,
      responses: { 200: record },
    }),
    delete: op({
      method: 'DELETE',
      path: `${path}/{id}`,
      audit: `${kind}.delete` as const,
      summary: summaries.delete ?? `Delete ${aOrAn(kind)}`,
      description: about.delete,
      tag: resource,
      access: access('delete'),
      query: Strict('updated_at' in (record['properties'] ?? {}) ? expectedUpdate : {}),
      responses: { 204: null },
    }),
  }
}
