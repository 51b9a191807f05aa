import { type TArray, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import {
  CreateAction,
  CreateEnvironment,
  CreateFreeze,
  CreateSequence,
  CreateSolution,
  CreateTarget,
  CreateTenant,
  describe,
  Name,
  RULES,
  SequenceDefinition,
  SolutionDefinition,
  Strict,
  Version,
} from '@slipway/contracts'
import type { FileKind } from './kinds.ts'

/** The schema of each kind of document. It is the schema of the API, but refers to other records by name. */

const omitFields = (schema: TObject, names: readonly string[]): TProperties =>
  Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)))

const refer = (description: string, example: string) => Type.Optional(describe(Name, description, example))
const tenant = {
  tenant: refer(
    'Name of the tenant that owns the record. When omitted, that of `--tenant`, and without it none',
    'Acme',
  ),
}

/** Creates a definition with the names of actions or sequences in place of their ids. */
const createDefinitionSchema = (schema: TObject, list: string, field: string, example: string) => {
  const given = schema.properties[list] as TArray<TObject>
  const { [`${field}_id`]: _, ...others } = given.items.properties
  const items = Strict({ [field]: describe(Name, `Name of the ${field}`, example), ...others })
  return Strict({ ...schema.properties, [list]: { ...given, items } }, { description: schema.description ?? '' })
}

const { from_environment_id: _from, ...promotion } = RULES.promotion.properties
const rules = Strict(
  {
    ...RULES,
    promotion: Type.Optional(
      Strict(
        {
          from_environment: describe(
            Name,
            'Name of the environment in which the version must be in force before',
            'staging',
          ),
          ...promotion,
        },
        { description: RULES.promotion.description ?? '' },
      ),
    ),
  },
  { description: 'What deployments to the environment, and to its targets, need before they start' },
)

const version = describe(
  Version,
  'A full semantic version. A published version never changes: a changed definition needs a higher version',
  '1.0.0',
)

const createKindSchema = (name: FileKind, properties: TProperties) =>
  Strict({ kind: describe(Type.Literal(name), 'What the document describes', name), ...properties })

export const SCHEMAS: Record<FileKind, TObject> = {
  tenant: createKindSchema('tenant', omitFields(CreateTenant, ['managed_by'])),
  environment: createKindSchema('environment', {
    ...omitFields(CreateEnvironment, ['tenant_id', 'managed_by', 'rules']),
    ...tenant,
    rules: Type.Optional(rules),
  }),
  action: createKindSchema('action', { ...omitFields(CreateAction, ['tenant_id', 'managed_by']), ...tenant, version }),
  sequence: createKindSchema('sequence', {
    ...omitFields(CreateSequence, ['tenant_id', 'managed_by']),
    ...tenant,
    version,
    definition: createDefinitionSchema(SequenceDefinition, 'actions', 'action', 'restart web'),
  }),
  solution: createKindSchema('solution', {
    ...omitFields(CreateSolution, ['tenant_id', 'managed_by']),
    ...tenant,
    version,
    definition: createDefinitionSchema(SolutionDefinition, 'sequences', 'sequence', 'release web'),
  }),
  target: createKindSchema('target', {
    ...omitFields(CreateTarget, ['tenant_id', 'environment_id', 'managed_by']),
    ...tenant,
    environment: refer('Name of the environment that the target belongs to', 'production'),
  }),
  freeze: createKindSchema('freeze', {
    ...omitFields(CreateFreeze, ['tenant_id', 'environment_id', 'solution_id', 'managed_by']),
    tenant: refer(
      'Name of the tenant that the freeze belongs to. It freezes deployments of this tenant and to its targets. When omitted, ' +
        'that of `--tenant`, and without it none',
      'Acme',
    ),
    environment: refer('Name of an environment: freezes its deployments, and those to its targets', 'production'),
    solution: refer('Name of a solution: freezes its deployments only', 'storefront'),
  }),
}

/** Lists the fields that are allowed beside the given one. The list is empty if any field is allowed. */
export function listAllowedFields(schema: TSchema, pointer: string, value: unknown): string[] {
  const keys = pointer.split('/').slice(1, -1)
  let here: TSchema | undefined = schema
  let inside = value
  for (const key of keys) {
    here = (here?.['properties']?.[key] ?? here?.['items']) as TSchema | undefined
    inside = (inside as Record<string, unknown> | undefined)?.[key]
    here = chooseAlternative(here, inside)
  }
  return Object.keys((here?.['properties'] as object | undefined) ?? {})
}

/** Returns the alternative of a schema that the `type` of the value selects. */
function chooseAlternative(schema: TSchema | undefined, value: unknown): TSchema | undefined {
  const branches = schema?.['allOf'] as { if?: TSchema; then?: TSchema }[] | undefined
  if (!branches) return (schema?.['else'] as TSchema | undefined) ?? schema
  const { type } = (value ?? {}) as { type?: unknown }
  return branches.find((branch) => branch.if?.['properties']?.type?.const === type)?.then ?? schema
}
