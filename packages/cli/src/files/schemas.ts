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

/** What a file may say of each kind of record: as the API has it, but naming other records by their names. */

const without = (schema: TObject, names: readonly string[]): TProperties =>
  Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)))

const reference = Type.Optional(Name)
const tenant = { tenant: reference }
const entry = (field: string) =>
  Strict({
    [field]: Name,
    version_requirement: Type.Optional(VersionRequirement),
    variables: Type.Optional(Variables),
  })

/** A list of entries that name their actions or sequences, in place of ids. */
const naming = (schema: TObject, list: string, field: string) => {
  const { minItems, maxItems } = schema.properties[list] as unknown as { minItems: number; maxItems: number }
  return Strict({ ...schema.properties, [list]: Type.Array(entry(field), { minItems, maxItems }) })
}

const kind = (name: FileKind, properties: TProperties) => Strict({ kind: Type.Literal(name), ...properties })

export const SCHEMAS: Record<FileKind, TObject> = {
  tenant: kind('tenant', CreateTenant.properties),
  environment: kind('environment', { ...without(CreateEnvironment, ['tenant_id']), ...tenant }),
  action: kind('action', { ...without(CreateAction, ['tenant_id']), ...tenant }),
  sequence: kind('sequence', {
    ...without(CreateSequence, ['tenant_id']),
    ...tenant,
    definition: naming(SequenceDefinition, 'actions', 'action'),
  }),
  solution: kind('solution', {
    ...without(CreateSolution, ['tenant_id']),
    ...tenant,
    definition: naming(SolutionDefinition, 'sequences', 'sequence'),
  }),
  target: kind('target', {
    ...without(CreateTarget, ['tenant_id', 'environment_id']),
    ...tenant,
    environment: reference,
  }),
  freeze: kind('freeze', {
    ...without(CreateFreeze, ['tenant_id', 'environment_id', 'solution_id']),
    ...tenant,
    environment: reference,
    solution: reference,
  }),
}

/** The fields that may stand beside the one that a JSON Pointer names; none where any may. */
export function allowedBeside(schema: TSchema, pointer: string, value: unknown): string[] {
  const keys = pointer.split('/').slice(1, -1)
  let here: TSchema | undefined = schema
  let inside = value
  for (const key of keys) {
    here = (here?.['properties']?.[key] ?? here?.['items']) as TSchema | undefined
    inside = (inside as Record<string, unknown> | undefined)?.[key]
    here = meant(here, inside)
  }
  return Object.keys((here?.['properties'] as object | undefined) ?? {})
}

/** Of several alternatives the one that the value chooses. */
function meant(schema: TSchema | undefined, value: unknown): TSchema | undefined {
  const branches = schema?.['allOf'] as { if?: TSchema; then?: TSchema }[] | undefined
  if (!branches) return (schema?.['else'] as TSchema | undefined) ?? schema
  const { type } = (value ?? {}) as { type?: unknown }
  return branches.find((branch) => branch.if?.['properties']?.type?.const === type)?.then ?? schema
}
