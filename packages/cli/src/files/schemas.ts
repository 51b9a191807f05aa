import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import {
  CreateAction,
  CreateEnvironment,
  CreateFreeze,
  CreateSequence,
  CreateSolution,
  CreateTarget,
  CreateTenant,
  Name,
  SequenceDefinition,
  SolutionDefinition,
  Strict,
  Variables,
  VersionRequirement,
} from '@slipway/contracts'
import type { FileKind } from './kinds.ts'

/** The schema of each kind of document. It is the schema of the API, but refers to other records by name. */

const omitFields = (schema: TObject, names: readonly string[]): TProperties =>
  Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)))

const reference = Type.Optional(Name)
const tenant = { tenant: reference }
const createEntrySchema = (field: string) =>
  Strict({
    [field]: Name,
    version_requirement: Type.Optional(VersionRequirement),
    variables: Type.Optional(Variables),
  })

/** Creates a definition with the names of actions or sequences in place of their ids. */
const createDefinitionSchema = (schema: TObject, list: string, field: string) => {
  const { minItems, maxItems } = schema.properties[list] as unknown as { minItems: number; maxItems: number }
  return Strict({ ...schema.properties, [list]: Type.Array(createEntrySchema(field), { minItems, maxItems }) })
}

const createKindSchema = (name: FileKind, properties: TProperties) =>
  Strict({ kind: Type.Literal(name), ...properties })

export const SCHEMAS: Record<FileKind, TObject> = {
  tenant: createKindSchema('tenant', omitFields(CreateTenant, ['managed_by'])),
  environment: createKindSchema('environment', {
    ...omitFields(CreateEnvironment, ['tenant_id', 'managed_by']),
    ...tenant,
  }),
  action: createKindSchema('action', { ...omitFields(CreateAction, ['tenant_id', 'managed_by']), ...tenant }),
  sequence: createKindSchema('sequence', {
    ...omitFields(CreateSequence, ['tenant_id', 'managed_by']),
    ...tenant,
    definition: createDefinitionSchema(SequenceDefinition, 'actions', 'action'),
  }),
  solution: createKindSchema('solution', {
    ...omitFields(CreateSolution, ['tenant_id', 'managed_by']),
    ...tenant,
    definition: createDefinitionSchema(SolutionDefinition, 'sequences', 'sequence'),
  }),
  target: createKindSchema('target', {
    ...omitFields(CreateTarget, ['tenant_id', 'environment_id', 'managed_by']),
    ...tenant,
    environment: reference,
  }),
  freeze: createKindSchema('freeze', {
    ...omitFields(CreateFreeze, ['tenant_id', 'environment_id', 'solution_id', 'managed_by']),
    ...tenant,
    environment: reference,
    solution: reference,
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
