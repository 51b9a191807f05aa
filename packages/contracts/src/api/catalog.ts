import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { MAX_RECURRENCE_LENGTH } from '@slipway/domain'
import {
  ContentId,
  Description,
  FileMode,
  Id,
  literals,
  Name,
  Nullable,
  Strict,
  Tag,
  Timestamp,
  Uuid,
  VARIABLE_NAME,
  Variables,
  Version,
  VersionRequirement,
  withOptions,
} from '../schema.ts'

const commonFields = {
  id: Uuid,
  sqid: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  tenant_id: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
}

const commonInput = {
  name: Name,
  description: Type.Optional(Nullable(Description)),
  tenant_id: Type.Optional(Nullable(Id('tenant'))),
}

const shownVariables = {
  variables: withOptions(Variables, { description: 'Values by name; `***` for those of sensitive_variables' }),
  sensitive_variables: Type.Array(Type.String(), {
    description: 'Names of the variables whose values are never shown',
  }),
}
const givenVariables = {
  variables: Type.Optional(Variables),
  sensitive_variables: Type.Optional(
    Type.Array(Type.String({ pattern: VARIABLE_NAME }), {
      maxItems: 1_000,
      description:
        'Names of variables whose values are secret: shown as `***` everywhere and masked in the output of commands. Each ' +
        'names one of the variables, whose value has at least 4 characters.',
    }),
  ),
}
const VARIABLES_OF_A_CHANGE =
  'Variables are replaced as a whole. A value that is shown as `***` stays what it is when it is sent back as `***`. A name ' +
  'of sensitive_variables stays sensitive until a new value is sent together with a list that leaves the name out.'

/**
 * Any subset of the fields of a create. A given field replaces what is there as a whole; one that is absent stays as it
 * is.
 */
const changeOf = <P extends TProperties>(create: TObject<P>, description: string) =>
  Type.Partial(create, { additionalProperties: false, description })

// ── Sources ──────────────────────────────────────────────────────────────────────────────────────────────────────

export const VariableDefinition = Strict({
  id: Type.Optional(Uuid),
  name: Type.String({ pattern: VARIABLE_NAME }),
  type: Type.Optional(literals(['string', 'number', 'boolean', 'json'])),
  description: Type.Optional(Description),
  default: Type.Optional(Type.Unknown()),
  required: Type.Optional(Type.Boolean()),
  prompted: Type.Optional(Type.Boolean()),
  sensitive: Type.Optional(Type.Boolean()),
})

const Script = Type.String({ minLength: 1, maxLength: 512 * 1024 })
const definitions = Type.Array(VariableDefinition, { maxItems: 1_000 })

export const INTERPRETERS = ['sh', 'bash', 'python3', 'node', 'pwsh'] as const

/** Content that is put into the command's working directory before it starts. */
export const ActionFile = Strict({
  content: withOptions(ContentId, { description: 'Id of content, from POST /api/v1/content' }),
  path: Type.String({ minLength: 1, maxLength: 1_024, description: 'Relative to the working directory and below it' }),
  mode: Type.Optional(withOptions(FileMode, { description: 'Permissions in octal; 0644 when omitted' })),
})

export const ActionDefinition = Strict({
  type: Type.Literal('script'),
  script: Script,
  interpreter: Type.Optional(literals(INTERPRETERS)),
  working_directory: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
  env: Type.Optional(
    Type.Record(Type.String({ pattern: VARIABLE_NAME }), Type.String({ maxLength: 131_072 }), {
      additionalProperties: false,
      maxProperties: 1_000,
    }),
  ),
  files: Type.Optional(Type.Array(ActionFile, { maxItems: 100 })),
  rollback: Type.Optional(Strict({ script: Script })),
  timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
  max_retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 10 })),
  variables: Type.Optional(definitions),
})

export const SequenceDefinition = Strict({
  actions: Type.Array(
    Strict({
      action_id: Id('action'),
      version_requirement: Type.Optional(VersionRequirement),
      variables: Type.Optional(Variables),
    }),
    { minItems: 1, maxItems: 500 },
  ),
  variables: Type.Optional(definitions),
})

export const SolutionDefinition = Strict({
  sequences: Type.Array(
    Strict({
      sequence_id: Id('sequence'),
      version_requirement: Type.Optional(VersionRequirement),
      variables: Type.Optional(Variables),
    }),
    { minItems: 1, maxItems: 100 },
  ),
  variables: Type.Optional(definitions),
})

const versionLine = Strict({ version: Type.String(), created_at: Timestamp })

export const SourceListItem = Strict({ ...commonFields, latest_version: Nullable(Type.String()) })
export const Source = Strict({ ...SourceListItem.properties, versions: Type.Array(versionLine) })
export const SourceVersionListItem = versionLine
export const SourceVersion = Strict({ ...versionLine.properties, definition: Type.Unknown() })

const createSource = <D extends typeof ActionDefinition | typeof SequenceDefinition | typeof SolutionDefinition>(
  definition: D,
) => Strict({ ...commonInput, version: Version, definition })

export const CreateAction = createSource(ActionDefinition)
export const CreateSequence = createSource(SequenceDefinition)
export const CreateSolution = createSource(SolutionDefinition)
export const ChangeSource = changeOf(
  Strict({ name: commonInput.name, description: commonInput.description }),
  'A published version never changes: publish another one instead.',
)
export const CreateActionVersion = Strict({ version: Version, definition: ActionDefinition })
export const CreateSequenceVersion = Strict({ version: Version, definition: SequenceDefinition })
export const CreateSolutionVersion = Strict({ version: Version, definition: SolutionDefinition })

// ── Targets ──────────────────────────────────────────────────────────────────────────────────────────────────────

export const LocalConnection = Strict(
  { type: Type.Literal('local') },
  {
    description:
      'Commands run on the machine of the orchestration instance. Creating a local target, or changing a target to ' +
      'local, needs the permission `targets:local`; users of a tenant never may.',
  },
)

const ssh = {
  type: Type.Literal('ssh'),
  host: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\s]+$' }),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  username: Type.String({ minLength: 1, maxLength: 255 }),
  host_key: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
}
/** Secrets are write only: `SshConnection` is what is kept and shown in clear. */
export const SshConnection = Strict(ssh)
export const SshConnectionInput = Strict({
  ...ssh,
  private_key: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
})

const share = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1, description }))

/** Of a simulated target: nothing is executed. */
export const SimulatedConnection = Strict(
  {
    type: Type.Literal('simulated'),
    duration_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 86_400_000, description: 'How long each command takes; 0 when omitted' }),
    ),
    exit_code: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description:
          'Without failure_rate every command ends with it, with failure_rate only those that fail; there 1 when omitted or 0',
      }),
    ),
    failure_rate: share('Share of the commands that fail'),
    output_lines: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100_000, description: 'Lines that each command writes; 1 when omitted' }),
    ),
    drop_rate: share('Share of the commands, rollback scripts included, during which the link to the target is lost'),
  },
  {
    description:
      'Runs nothing and answers as scripted. Which commands fail follows from target, action and attempt, so a repeated ' +
      'deployment takes the same course. Rollback scripts succeed, unless the link is lost.',
  },
)

/** The agent on the target enrols with a token; see createAgentToken. */
export const AgentConnection = Strict({ type: Type.Literal('agent') })

/** Told apart by `type`, so that what is wrong is said of the kind that was meant. */
export const ConnectionInput = Type.Unsafe<
  (typeof LocalConnection | typeof SshConnectionInput | typeof AgentConnection | typeof SimulatedConnection)['static']
>({
  type: 'object',
  required: ['type'],
  properties: { type: { enum: ['local', 'ssh', 'agent', 'simulated'] } },
  allOf: [
    { if: { properties: { type: { const: 'local' } }, required: ['type'] }, then: LocalConnection },
    { if: { properties: { type: { const: 'ssh' } }, required: ['type'] }, then: SshConnectionInput },
    { if: { properties: { type: { const: 'agent' } }, required: ['type'] }, then: AgentConnection },
    { if: { properties: { type: { const: 'simulated' } }, required: ['type'] }, then: SimulatedConnection },
  ],
})
export const Connection = Type.Union([LocalConnection, SshConnection, AgentConnection, SimulatedConnection])

export const Target = Strict({
  ...commonFields,
  environment_id: Nullable(Uuid),
  tags: Type.Array(Tag),
  connection: Connection,
  ...shownVariables,
  status: literals(['online', 'stale', 'offline']),
  last_seen_at: Nullable(Timestamp),
  enabled: Type.Boolean(),
})

export const CreateTarget = Strict({
  ...commonInput,
  environment_id: Type.Optional(Nullable(Id('environment'))),
  tags: Type.Optional(Type.Array(Tag, { maxItems: 100 })),
  connection: ConnectionInput,
  ...givenVariables,
  enabled: Type.Optional(Type.Boolean()),
})

export const ChangeTarget = changeOf(
  CreateTarget,
  'A given connection replaces the whole connection. Its secrets need to be sent again only when its type, host, port or ' +
    `user name changes. Tags are replaced as a whole too. ${VARIABLES_OF_A_CHANGE}`,
)

/** What is known of the agent on a target. */
export const TargetAgent = Strict({
  agent_id: Uuid,
  host: Type.String(),
  port: Type.Integer(),
  version: Type.String(),
  enrolled_at: Timestamp,
  last_seen_at: Nullable(Timestamp),
})

export const AgentToken = Strict({
  token: Type.String({ description: 'For `target-agent enrol`; good for one enrolment and not shown again' }),
  expires_at: Timestamp,
})

export const TagRecord = Strict({ key: Type.String(), value: Type.String(), target_count: Type.Integer() })

// ── Environments, tenants, freezes ───────────────────────────────────────────────────────────────────────────────

export const Environment = Strict({ ...commonFields, ...shownVariables })
export const CreateEnvironment = Strict({ ...commonInput, ...givenVariables })
export const ChangeEnvironment = changeOf(CreateEnvironment, VARIABLES_OF_A_CHANGE)

const { tenant_id: _tenantOfTenant, ...tenantFields } = commonFields
export const Tenant = Strict({ ...tenantFields, slug: Type.String(), ...shownVariables })
export const CreateTenant = Strict({
  name: Name,
  description: Type.Optional(Nullable(Description)),
  slug: Type.Optional(Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 255 })),
  ...givenVariables,
})
export const ChangeTenant = changeOf(CreateTenant, VARIABLES_OF_A_CHANGE)

export const Freeze = Strict({
  id: Uuid,
  name: Type.String(),
  description: Nullable(Type.String()),
  start_time: Timestamp,
  end_time: Timestamp,
  recurrence: Nullable(Type.String()),
  time_zone: Nullable(Type.String()),
  tenant_id: Nullable(Uuid),
  environment_id: Nullable(Uuid),
  solution_id: Nullable(Uuid),
  active: Type.Boolean(),
  created_by: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const CreateFreeze = Strict({
  name: Name,
  description: Type.Optional(Nullable(Description)),
  start_time: Timestamp,
  end_time: Timestamp,
  recurrence: Type.Optional(
    Nullable(
      Type.String({
        maxLength: MAX_RECURRENCE_LENGTH,
        description:
          'Value of an RFC 5545 RRULE, without `RRULE:`, by which the window from start_time to end_time comes again; ' +
          'HOURLY to YEARLY. It counts in the zone in which start_time is written, whose offset is the same all year, ' +
          'unless time_zone names another. ' +
          'The window from start_time to end_time itself always counts. A window longer than the shortest interval between ' +
          'two starts of the rule is refused; equal is allowed, and summer time is ignored.',
        examples: ['FREQ=WEEKLY;BYDAY=FR'],
      }),
    ),
  ),
  time_zone: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 64,
        description:
          'Name of a zone in which the recurrence counts: windows begin at the same time of day there, in summer as in ' +
          'winter, and are always as long as the first. A time of day that the clocks leap over is taken as they stood before.',
        examples: ['Europe/Berlin'],
      }),
    ),
  ),
  tenant_id: Type.Optional(
    Nullable(
      withOptions(Id('tenant'), {
        description: 'Freezes deployments that name this tenant, or that select a target of it',
      }),
    ),
  ),
  environment_id: Type.Optional(
    Nullable(
      withOptions(Id('environment'), {
        description: 'Freezes deployments that name this environment, or that select a target of it',
      }),
    ),
  ),
  solution_id: Type.Optional(
    Nullable(withOptions(Id('solution'), { description: 'Freezes deployments of this solution only' })),
  ),
})
export const ChangeFreeze = changeOf(
  CreateFreeze,
  'A start_time that is given also sets the zone in which a recurrence counts.',
)
