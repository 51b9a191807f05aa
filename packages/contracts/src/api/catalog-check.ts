import { Type } from '@sinclair/typebox'
import { ContentId, Count, describe, Flag, literals, Ref, Strict, tagged, Uuid, withOptions } from '../schema.ts'
import { STORY } from '../story.ts'
import { ErrorBody } from './common.ts'
import { MAX_CONTENT_BYTES } from './content.ts'
import { expectedUpdate } from './records.ts'

const ofSource = <const N extends 'Action' | 'Sequence' | 'Solution'>(name: N) =>
  ({
    list: `list${name}s`,
    create: `create${name}`,
    update: `update${name}`,
    get: `get${name}`,
    version: `get${name}Version`,
    publish: `create${name}Version`,
    delete: `delete${name}`,
  }) as const

/** The operations of each kind of record that catalog files describe. */
export const CATALOG_OPERATIONS = {
  tenant: { list: 'listTenants', create: 'createTenant', update: 'updateTenant', delete: 'deleteTenant' },
  environment: {
    list: 'listEnvironments',
    create: 'createEnvironment',
    update: 'updateEnvironment',
    delete: 'deleteEnvironment',
  },
  target: { list: 'listTargets', create: 'createTarget', update: 'updateTarget', delete: 'deleteTarget' },
  freeze: { list: 'listFreezes', create: 'createFreeze', update: 'updateFreeze', delete: 'deleteFreeze' },
  action: ofSource('Action'),
  sequence: ofSource('Sequence'),
  solution: ofSource('Solution'),
} as const

/** The most changes in one check. They are one transaction, which holds locks until it is rolled back. 100 actions take 1 to 3 s. */
export const MAX_CHECKED_CHANGES = 1_000
/** Scripts make a catalog larger than any one record. */
export const MAX_CHECK_BYTES = 8 * 1024 * 1024

const SOURCES = ['action', 'sequence', 'solution'] as const
const KINDS = ['tenant', 'environment', ...SOURCES, 'target', 'freeze'] as const
const REFERRED = ['tenant', 'environment', ...SOURCES] as const

const what = <const W extends string>(name: W, about: string) => describe(Type.Literal(name), about, name)
const kind = <const K extends readonly [string, ...string[]]>(kinds: K) =>
  describe(literals(kinds), 'The kind of record', kinds[0])
const newId = withOptions(Uuid, {
  description: 'A UUID that the caller makes up. Later changes of the request refer to the record by it',
  examples: [STORY.environment],
})
const body = (about: string, example: object) => describe(Type.Unknown(), about, example)
const changeBody = body('The body of the call, as of the operation that makes this change', { name: 'production' })

const changes = tagged('what', [
  Strict({ what: what('create', 'Creates a record'), kind: kind(KINDS), id: newId, body: changeBody }),
  Strict({
    what: what('change', 'Changes a record'),
    kind: kind(KINDS),
    id: Ref('environment', 'The record, by UUID'),
    body: changeBody,
  }),
  Strict({
    what: what('publish', 'Publishes a version'),
    kind: kind(SOURCES),
    id: Ref('action', 'The source, by UUID'),
    body: body('The body of the call, as of the operation that publishes a version', { version: '1.1.0' }),
  }),
  Strict({
    what: what('delete', 'Deletes a record'),
    kind: kind(KINDS),
    id: Ref('target', 'The record, by UUID'),
    ...expectedUpdate,
  }),
  Strict({
    what: what('upload', 'Uploads content'),
    id: ContentId,
    size: describe(Type.Integer({ minimum: 0, maximum: MAX_CONTENT_BYTES }), 'Bytes', 18_432),
  }),
  Strict({
    what: what(
      'assume',
      'Assumes a record that other changes refer to: it belongs to no tenant, and every version requirement is satisfied',
    ),
    kind: kind(REFERRED),
    id: newId,
  }),
])
const CatalogChange = withOptions(changes, {
  properties: { what: describe(Type.String(), 'What is done', 'create') },
})

export const CheckCatalog = Strict(
  {
    changes: describe(
      Type.Array(CatalogChange, { minItems: 1, maxItems: MAX_CHECKED_CHANGES }),
      'The changes in their order. Each sees what those before it have done',
      [{ what: 'create', kind: 'environment', id: STORY.environment, body: { name: 'production' } }],
    ),
    assume_permissions: Type.Optional(
      Flag(
        'Whether a caller that may change nothing of the catalog is checked as if it might create, change and delete what it reads. So the ' +
          'account of a preview needs no right to write',
        false,
      ),
    ),
  },
  {
    description:
      'A record or version whose creation is refused counts as created for the changes after it, unless the caller lacks the permission. So one answer names all problems.',
  },
)

const Refusal = Strict(
  {
    status: Count('The status of the refusal', 400),
    ...ErrorBody.properties.error.properties,
  },
  { description: 'Why the change would be refused, as the operation itself would answer' },
)

export const CatalogChecks = Strict({
  assumed_permissions: Flag('Whether the permissions of the caller were not checked', false),
  results: describe(
    Type.Array(
      Strict({
        error: describe(
          Type.Union([Refusal, Type.Null()]),
          'Why the change would be refused; null: it would be made',
          null,
        ),
        warnings: describe(Type.Array(Type.String()), 'The warnings of the answer', []),
      }),
    ),
    'What would become of each change, in their order',
    [{ error: null, warnings: [] }],
  ),
})
