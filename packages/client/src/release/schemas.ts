import { type Static, type TObject, Type } from '@sinclair/typebox'
import {
  ActionDefinition,
  CreateDeployment,
  CreateEnvironment,
  CreateTarget,
  Description,
  Name,
  Strict,
  VARIABLE_NAME,
  VariableDefinition,
  Variables,
  Version,
  VersionRequirement,
} from '@slipway/contracts'

/** The files of a release directory. They name each other by file and name; ids are the server's. */

const FileName = Type.String({ minLength: 1, maxLength: 255 })
const definitions = Type.Optional(Type.Array(VariableDefinition, { maxItems: 1_000 }))

const without = <T extends TObject, K extends string>(schema: T, names: readonly K[]) =>
  Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name as K))) as Omit<
    T['properties'],
    K
  >

const versioned = { name: Name, description: Type.Optional(Description), version: Version }

/** A script stands in the file itself, or in a file of its own beside it. */
const script = {
  script: Type.Optional(ActionDefinition.properties.script),
  script_file: Type.Optional(FileName),
}

export const ActionFile = Strict({
  ...versioned,
  definition: Strict({
    ...without(ActionDefinition, ['script', 'rollback']),
    ...script,
    rollback: Type.Optional(Strict(script)),
  }),
})

const SequencePart = Strict({
  ...versioned,
  actions: Type.Array(
    Strict({
      /** Name of a file in actions/, without its ending. */
      action: FileName,
      version_requirement: Type.Optional(VersionRequirement),
      variables: Type.Optional(Variables),
    }),
    { minItems: 1, maxItems: 500 },
  ),
  variables: definitions,
})

export const SolutionFile = Strict({
  ...versioned,
  sequences: Type.Array(SequencePart, { minItems: 1, maxItems: 100 }),
  variables: definitions,
})

export const EnvironmentFile = Strict(without(CreateEnvironment, ['tenant_id']))

export const TargetsFile = Type.Array(Strict(without(CreateTarget, ['tenant_id', 'environment_id'])), { minItems: 1 })

export const DeploymentFile = Strict({
  ...without(CreateDeployment, [
    'solution_id',
    'sequence_id',
    'action_id',
    'tenant_id',
    'environment_id',
    'target_ids',
    'dry_run',
  ]),
  /** Variables whose value is a place, relative to the file. */
  paths: Type.Optional(Type.Record(Type.String({ pattern: VARIABLE_NAME }), FileName, { additionalProperties: false })),
  prepare: Type.Optional(Strict({ command: Type.Array(Type.String(), { minItems: 1 }) })),
  result_url: Type.Optional(Type.String({ minLength: 1 })),
})

export type ActionFile = Static<typeof ActionFile>
export type SolutionFile = Static<typeof SolutionFile>
export type EnvironmentFile = Static<typeof EnvironmentFile>
export type TargetsFile = Static<typeof TargetsFile>
export type DeploymentFile = Static<typeof DeploymentFile>
