import type { TSchema } from '@sinclair/typebox'
import { Tag, Variables } from '../../schema.ts'
import * as administration from '../administration.ts'
import * as audit from '../audit.ts'
import * as auth from '../auth.ts'
import * as catalog from '../catalog.ts'
import { CatalogChecks, CheckCatalog } from '../catalog-check.ts'
import { Message, PageMeta } from '../common.ts'
import * as content from '../content.ts'
import * as deployments from '../deployments.ts'
import {
  ApprovalRuleState,
  Approvals,
  Approve,
  GivenApproval,
  MissingPromotion,
  Promotion,
  Reject,
} from '../environment-rules.ts'
import { CliToken, LoginProvider, LoginProviders } from '../oidc.ts'
import { Overview, OverviewCounts } from '../overview.ts'
import * as checks from '../release-checks.ts'
import * as releases from '../releases.ts'
import * as tokens from '../tokens.ts'
import * as webhooks from '../webhooks.ts'
import { exampleOf } from './example-of.ts'

type Json = Record<string, unknown>

/** Schemas with a name in the document. Equal schemas share the first name. */
const NAMED: Record<string, unknown> = {
  Message,
  PageMeta,
  Tag,
  Variables,
  ...auth,
  ...administration,
  ...audit,
  ...catalog,
  CheckCatalog,
  CatalogChecks,
  ...content,
  ...deployments,
  ApprovalRuleState,
  Approvals,
  Approve,
  GivenApproval,
  MissingPromotion,
  Promotion,
  Reject,
  CliToken,
  LoginProvider,
  LoginProviders,
  Overview,
  OverviewCounts,
  ...checks,
  ...releases,
  ...tokens,
  ...webhooks,
}

const isSchema = (value: unknown): value is TSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the schema accepts, as text: two uses of a named schema may have different descriptions. */
const acceptedBy = ({ description: _, examples: __, ...schema }: TSchema) => JSON.stringify(schema)

const named = new Map<string, { name: string; schema: TSchema }>()
for (const [name, schema] of Object.entries(NAMED)) {
  if (!isSchema(schema)) continue
  const text = acceptedBy(schema)
  if (!named.has(text)) named.set(text, { name, schema })
}

/** The named schemas that the document refers to. */
export interface Components {
  readonly schemas: Record<string, unknown>
  /** A reference to a named schema, else the schema with references inside. */
  refer(schema: unknown): unknown
  /** The schema with references inside, even if it has a name. */
  define(schema: unknown): unknown
}

/** Keywords with values, in which a value that looks like a schema is none. */
const VALUES = new Set(['const', 'default', 'enum', 'examples', 'required'])

export function createComponents(): Components {
  const schemas: Record<string, unknown> = {}

  function refer(schema: unknown): unknown {
    const found = isSchema(schema) ? named.get(acceptedBy(schema)) : undefined
    if (found === undefined) return referInside(schema)
    const { name } = found
    if (!(name in schemas)) {
      // A placeholder, because the schema may contain itself.
      schemas[name] = {}
      schemas[name] = referInside(found.schema)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function referInside(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(refer)
    if (!isSchema(schema)) return schema
    const plain = asAlternatives(schema)
    return Object.fromEntries(
      Object.entries(plain).map(([key, value]) => {
        if (VALUES.has(key)) return [key, value]
        return [key, key === 'properties' ? properties(value as Record<string, TSchema>) : refer(value)]
      }),
    )
  }

  /** Each property says what it means and has an example, even if it refers to a named schema. */
  function properties(fields: Record<string, TSchema>): Json {
    return Object.fromEntries(
      Object.entries(fields).map(([field, schema]) => {
        const { description, examples } = schema
        const example = exampleOf(schema)
        return [
          field,
          {
            ...(refer(schema) as Json),
            ...(description && { description }),
            ...(example === undefined ? {} : { examples: examples ?? [example] }),
          },
        ]
      }),
    )
  }

  return { schemas, refer, define: referInside }
}

/** Turns `if` and `then`, which give better errors in validation, into an equal `oneOf`: client generators need that. */
function asAlternatives(schema: Json): Json {
  const { if: condition, then, else: otherwise, ...rest } = schema
  if (isSchema(condition) && isSchema(then) && isSchema(otherwise)) {
    return { ...rest, oneOf: [{ ...condition, ...then }, otherwise] }
  }
  const { allOf } = schema
  if (Array.isArray(allOf) && allOf.length > 0 && allOf.every((one) => isSchema(one) && 'if' in one && 'then' in one)) {
    return { oneOf: allOf.map((one: Json) => one['then']) }
  }
  return schema
}
