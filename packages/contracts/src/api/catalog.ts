import { type TObject, type TProperties, Type } from '@sinclair/typebox'
import { CONCURRENCY_POLICIES, InstanceSelector, LabelExpression, MAX_RECURRENCE_LENGTH } from '@slipway/domain'
import {
  ContentId,
  Description,
  FileMode,
  Id,
  literals,
  ManagerName,
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

const ManagedBy = withOptions(Nullable(ManagerName), {
  description:
    'The file set of `slipway apply` that describes the record; null if none does. It is a label that tells who to ask: it ' +
    'gives and takes no permission.',
  examples: ['shop/catalog'],
})

const commonFields = {
  id: Uuid,
  sqid: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  tenant_id: Nullable(Uuid),
  managed_by: ManagedBy,
  created_at: Timestamp,
  updated_at: Timestamp,
}

const commonInput = {
  name: Name,
  description: Type.Optional(Nullable(Description)),
  tenant_id: Type.Optional(Nullable(Id('tenant'))),
  managed_by: Type.Optional(ManagedBy),
}

const shownVariables = {
  variables: withOptions(Variables, { description: 'Values by name; `***` for those of sensitive_variables' }),
  sensitive_variables: Type.Array(Type.String(), {
    description: 'Names of the variables with values that are never shown',
  }),
}
const givenVariables = {
  variables: Type.Optional(Variables),
  sensitive_variables: Type.Optional(
    Type.Array(Type.String({ pattern: VARIABLE_NAME }), {
      maxItems: 1_000,
      description:
        'Names of variables with secret values: shown as `***` everywhere and masked in the output of commands. Each of ' +
        'them needs a value of at least 4 characters.',
    }),
  ),
}
const VARIABLES_OF_A_CHANGE =
  '`variables` replaces all variables. A sensitive value that is sent as `***` does not change. A variable stays sensitive ' +
  'until a request has a new value and a `sensitive_variables` without its name.'

export { InstanceSelector, LabelExpression }

/** A union with null would report that the selector is not null beside each problem inside. */
const NullableSelector = Type.Unsafe<InstanceSelector | null>({
  if: { type: 'null' },
  then: { type: 'null' },
  else: InstanceSelector,
  description: 'The labels that an instance needs to run deployments here; null: any instance',
})
const shownSelector = { instance_selector: NullableSelector }
const givenSelector = { instance_selector: Type.Optional(NullableSelector) }

const ConcurrencyField = withOptions(Nullable(literals(CONCURRENCY_POLICIES)), {
  description:
    'What happens to a deployment while another one works on the target: `allow` runs both, `queue` lets it wait, `reject` ' +
    'refuses it, `supersede` lets it wait and cancels an older request of the same source that still waits. Null: the ' +
    'policy of the environment of the target, and without one the setting SLIPWAY_TARGET_CONCURRENCY',
})

/** The fields of a create, all optional. A field that is present replaces the whole value. */
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

/** Content for the working directory of the command. */
export const ActionFile = Strict({
  content: withOptions(ContentId, { description: 'Id of content, from POST /api/v1/content' }),
  path: Type.String({ minLength: 1, maxLength: 1_024, description: 'Relative to the working directory and below it' }),
  mode: Type.Optional(withOptions(FileMode, { description: 'Permissions in octal; 0644 when omitted' })),
})

export const MIN_CHECK_INTERVAL_SECONDS = 60

/** Tells by its exit code whether a target is as the action left it. */
const ActionCheck = Strict(
  {
    script: Script,
    interpreter: Type.Optional(withOptions(literals(INTERPRETERS), { description: 'That of the action when omitted' })),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_600, description: '60 when omitted' })),
    interval_seconds: Type.Optional(
      Type.Integer({
        minimum: MIN_CHECK_INTERVAL_SECONDS,
        maximum: 31_536_000,
        description: 'How often the check runs; without it, as often as SLIPWAY_DRIFT_CHECK_INTERVAL says',
      }),
    ),
  },
  {
    description:
      'Tells whether a target is as the action left it: exit code 0, it is; 1, it has drifted; anything else, the check could ' +
      'not be done. It runs with the variables, files, environment and working directory of the action.',
  },
)

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
  check: Type.Optional(ActionCheck),
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
  Strict({ name: commonInput.name, description: commonInput.description, managed_by: commonInput.managed_by }),
  'A published version never changes: publish a new version instead.',
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
/** Without the secrets, which only `SshConnectionInput` has. */
export const SshConnection = Strict(ssh)
export const SshConnectionInput = Strict({
  ...ssh,
  private_key: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1_024 })),
})

const share = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 1, description }))

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
          'Exit code of every command or, with failure_rate, of the commands that fail (then 1 when omitted or 0)',
      }),
    ),
    failure_rate: share('Share of the commands that fail'),
    output_lines: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100_000, description: 'Lines that each command writes; 1 when omitted' }),
    ),
    drop_rate: share('Share of the commands and rollback scripts during which the connection to the target is lost'),
  },
  {
    description:
      'Executes nothing and answers as this connection says. Target, action and attempt decide which commands fail, so a ' +
      'repeated deployment has the same result. Rollback scripts succeed unless the connection is lost.',
  },
)

/** The agent on the target enrols with a token; see createAgentToken. */
export const AgentConnection = Strict({ type: Type.Literal('agent') })

/** `if` and `then` make validation report problems of the given `type` only. */
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

export const TARGET_STATUSES = ['online', 'stale', 'offline'] as const

export const Target = Strict({
  ...commonFields,
  environment_id: Nullable(Uuid),
  tags: Type.Array(Tag),
  connection: Connection,
  ...shownVariables,
  ...shownSelector,
  status: literals(TARGET_STATUSES),
  last_seen_at: Nullable(Timestamp),
  last_error: withOptions(Nullable(Type.String({ maxLength: 500 })), {
    description: 'Why the last attempt to reach the target failed, or why it is not online; null if it was reached',
    examples: ['connection refused by web-1.example.com:22'],
  }),
  unreachable_since: withOptions(Nullable(Timestamp), {
    description:
      'When the first attempt failed since the last contact; without an attempt, the last contact. Null if the target was ' +
      'reached, or never tried',
    examples: ['2026-11-23T10:00:00.000Z'],
  }),
  enabled: Type.Boolean(),
  concurrency: ConcurrencyField,
})

export const CreateTarget = Strict({
  ...commonInput,
  environment_id: Type.Optional(Nullable(Id('environment'))),
  tags: Type.Optional(Type.Array(Tag, { maxItems: 100 })),
  connection: ConnectionInput,
  ...givenVariables,
  ...givenSelector,
  enabled: Type.Optional(Type.Boolean()),
  concurrency: Type.Optional(ConcurrencyField),
})

export const ChangeTarget = changeOf(
  CreateTarget,
  '`connection` replaces the whole connection. Its secrets need to be sent again only if its type, host, port or user name ' +
    `changes. \`tags\` replaces all tags. ${VARIABLES_OF_A_CHANGE}`,
)

export const TargetAgent = Strict({
  agent_id: Uuid,
  host: Type.String(),
  port: Type.Integer(),
  version: Type.String(),
  enrolled_at: Timestamp,
  last_seen_at: Nullable(Timestamp),
})

export const AgentToken = Strict({
  token: Type.String({ description: 'For `target-agent enrol`, once. It is not shown again' }),
  expires_at: Timestamp,
})

export const TagRecord = Strict({ key: Type.String(), value: Type.String(), target_count: Type.Integer() })

// ── Environments, tenants, freezes ───────────────────────────────────────────────────────────────────────────────

export const Environment = Strict({
  ...commonFields,
  ...shownVariables,
  ...shownSelector,
  concurrency: ConcurrencyField,
})
export const CreateEnvironment = Strict({
  ...commonInput,
  ...givenVariables,
  ...givenSelector,
  concurrency: Type.Optional(ConcurrencyField),
})
export const ChangeEnvironment = changeOf(CreateEnvironment, VARIABLES_OF_A_CHANGE)

const { tenant_id: _tenantOfTenant, ...tenantFields } = commonFields
export const Tenant = Strict({ ...tenantFields, slug: Type.String(), ...shownVariables, ...shownSelector })
export const CreateTenant = Strict({
  name: Name,
  description: Type.Optional(Nullable(Description)),
  managed_by: Type.Optional(ManagedBy),
  slug: Type.Optional(Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 255 })),
  ...givenVariables,
  ...givenSelector,
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
  windows: Type.Array(Strict({ starts_at: Timestamp, ends_at: Timestamp }), {
    description:
      'The present window and the next ones, in order: those that begin within 14 days, at most 100. If none begins by then, the ' +
      'next one within a year.',
  }),
  created_by: Nullable(Type.String()),
  managed_by: ManagedBy,
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const CreateFreeze = Strict({
  name: Name,
  description: Type.Optional(Nullable(Description)),
  managed_by: Type.Optional(ManagedBy),
  start_time: Timestamp,
  end_time: Timestamp,
  recurrence: Type.Optional(
    Nullable(
      Type.String({
        maxLength: MAX_RECURRENCE_LENGTH,
        description:
          'An RFC 5545 RRULE, without `RRULE:`, that repeats the window from start_time to end_time; HOURLY to YEARLY. ' +
          'Without time_zone, the rule uses the UTC offset of start_time all year. ' +
          'The first window always counts, even if the rule does not include it. A window longer than the shortest interval ' +
          'between two starts is refused. An equal length is allowed, and summer time is ignored.',
        examples: ['FREQ=WEEKLY;BYDAY=FR'],
      }),
    ),
  ),
  time_zone: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 64,
        description:
          'The time zone of the recurrence: windows begin at the same time of day there, in summer and winter, and all have ' +
          'the length of the first. For a time of day that the clocks skip, the UTC offset before the change counts.',
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
export const ChangeFreeze = changeOf(CreateFreeze, '`start_time` also sets the UTC offset of the recurrence.')
