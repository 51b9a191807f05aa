import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { CONCURRENCY_POLICIES, InstanceSelector } from '@slipway/domain'
import {
  Description,
  describe,
  Id,
  type IdKind,
  literals,
  ManagerName,
  Moment,
  Name,
  Nullable,
  NullableRef,
  NullableText,
  Omissible,
  Ref,
  Text,
  VARIABLE_NAME,
  Variables,
} from '../schema.ts'
import { MOMENTS, STORY_SQIDS } from '../story.ts'

/** Fields that several kinds of record have. */

export const ManagedBy = describe(
  Nullable(ManagerName),
  'The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it ' +
    'gives and takes no permission.',
  'shop/catalog',
)

export const commonFields = (kind: IdKind, name: string, about: string) => ({
  id: Ref(kind, 'UUID of the record. It never changes'),
  sqid: Text('Short id of the record. Paths and bodies accept it wherever they accept the UUID', STORY_SQIDS[kind]),
  name: Text('Name, unique among the records of this kind that belong to the same tenant, or to none', name),
  description: NullableText('Free text for people', about),
  tenant_id: NullableRef('tenant', 'The tenant that owns the record; null: the record belongs to no tenant', null),
  managed_by: ManagedBy,
  created_at: Moment('When the record was created', MOMENTS.made),
  updated_at: Moment('When the record was last changed', MOMENTS.made),
})

export const commonInput = (name: string, about: string) => ({
  name: describe(Name, Name.description ?? '', name),
  description: Type.Optional(describe(Nullable(Description), 'Free text for people, at most 10,000 characters', about)),
  tenant_id: Type.Optional(
    describe(
      Nullable(Id('tenant')),
      'The tenant that owns the record. When omitted: the tenant of the caller, and none for a caller without tenant',
      null,
    ),
  ),
  managed_by: Type.Optional(ManagedBy),
})

const exampleVariables = { region: 'eu-west-1', api_token: '***' }

export const shownVariables = {
  variables: describe(Variables, 'Values by name; `***` for those of sensitive_variables', exampleVariables),
  sensitive_variables: describe(Type.Array(Type.String()), 'Names of the variables with values that are never shown', [
    'api_token',
  ]),
}
export const givenVariables = {
  variables: Omissible(
    describe(Variables, 'Values by name. Deployments that use the record receive them', {
      region: 'eu-west-1',
      api_token: 'correct horse',
    }),
    {},
  ),
  sensitive_variables: Omissible(
    Type.Array(Type.String({ pattern: VARIABLE_NAME }), {
      maxItems: 1_000,
      description:
        'Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of ' +
        'them needs a value of at least 4 characters',
      examples: [['api_token']],
    }),
    [],
  ),
}
export const VARIABLES_OF_A_CHANGE =
  '`variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive ' +
  'until a request has a new value and a `sensitive_variables` without its name.'

/** A union with null would report that the selector is not null beside each problem inside. */
const NullableSelector = Type.Unsafe<InstanceSelector | null>({
  if: { type: 'null' },
  then: { type: 'null' },
  else: InstanceSelector,
  description: 'The labels that an instance needs to run deployments here; null: any instance',
  examples: [{ match_labels: { zone: 'eu-west-1' } }, null],
})
export const shownSelector = { instance_selector: NullableSelector }
export const givenSelector = { instance_selector: Type.Optional(NullableSelector) }

export const ConcurrencyField = describe(
  Nullable(literals(CONCURRENCY_POLICIES)),
  'What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` ' +
    'refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the ' +
    'policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY',
  'queue',
  null,
)

const EXPECTED =
  'The `updated_at` that the caller has read. If the record was changed since then, the call is refused (409)'

/** A field of a body, or a parameter of a query: a call with it does not undo a change that its caller has not seen. */
export const expectedUpdate = { expected_updated_at: Type.Optional(Moment(EXPECTED, MOMENTS.made)) }

/** The fields of a create, all optional. A field that is present replaces the whole value, an omitted one does not change. */
export const changeOf = <P extends TProperties>(create: TObject<P>, description: string) =>
  Type.Partial(Type.Object({ ...withoutDefaults(create.properties), ...expectedUpdate }), {
    additionalProperties: false,
    description,
  })

const withoutDefaults = <P extends TProperties>(properties: P): P =>
  Object.fromEntries(Object.entries(properties).map(([name, { default: _, ...schema }]) => [name, schema])) as P
