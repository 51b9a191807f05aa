import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  Count,
  describe,
  Flag,
  Id,
  literals,
  Moment,
  Nullable,
  NullableMoment,
  NullableRef,
  Omissible,
  Ref,
  Strict,
  Tag,
  Text,
} from '../schema.ts'
import { MOMENTS, STORY } from '../story.ts'
import {
  ConcurrencyField,
  changeOf,
  commonFields,
  commonInput,
  givenSelector,
  givenVariables,
  shownSelector,
  shownVariables,
  VARIABLES_OF_A_CHANGE,
} from './records.ts'

const typeOf = <const T extends string>(type: T, about: string) => describe(Type.Literal(type), about, type)

export const LocalConnection = Strict(
  { type: typeOf('local', 'Commands run on the machine of the orchestration instance') },
  {
    description:
      'Commands run on the machine of the orchestration instance. Creating a local target, or changing a target to ' +
      'local, needs the permission `targets:local`; users of a tenant never may.',
  },
)

const ssh = {
  type: typeOf('ssh', 'Commands run on a host over SSH'),
  host: describe(
    Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\s]+$' }),
    'Host name or IP address, as the orchestration instance reaches it',
    'web-1.example.com',
  ),
  port: Omissible(describe(Type.Integer({ minimum: 1, maximum: 65_535 }), 'TCP port', 22), 22),
  username: describe(
    Type.String({ minLength: 1, maxLength: 255 }),
    'The user as whom the connection logs in and commands run',
    'deploy',
  ),
  host_key: Type.Optional(
    describe(
      Type.String({ minLength: 1, maxLength: 16_384 }),
      'The key that the host must have: a public key, a line of `known_hosts`, or a `SHA256:` fingerprint. When omitted, ' +
        'the first connection pins the key',
      'SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8',
    ),
  ),
}
/** Without the secrets, which only `SshConnectionInput` has. */
export const SshConnection = Strict(ssh, {
  description: 'Commands run on a host over SSH. Private key and password are never shown',
})
export const SshConnectionInput = Strict(
  {
    ...ssh,
    private_key: Type.Optional(
      describe(
        Type.String({ minLength: 1, maxLength: 65_536 }),
        'Private key as ssh-keygen or OpenSSL writes it (OpenSSH, PEM or PKCS#8), without passphrase; another text is refused with the reason. It is sealed and never shown',
        '-----BEGIN OPENSSH PRIVATE KEY-----\n…',
      ),
    ),
    password: Type.Optional(
      describe(
        Type.String({ minLength: 1, maxLength: 1_024 }),
        'Password for a host that accepts no key. It is sealed and never shown',
        'correct horse battery staple',
      ),
    ),
  },
  {
    description:
      'Commands run on a host over SSH, with a private key, a password, or neither if the host asks for none',
  },
)

const share = (description: string, example: number) =>
  describe(Type.Number({ minimum: 0, maximum: 1 }), description, example)

export const SimulatedConnection = Strict(
  {
    type: typeOf('simulated', 'Nothing is executed'),
    duration_ms: Omissible(
      describe(
        Type.Integer({ minimum: 0, maximum: 86_400_000 }),
        'How long each command takes, in milliseconds',
        2_000,
      ),
      0,
    ),
    exit_code: Omissible(
      describe(
        Type.Integer({ minimum: 0, maximum: 255 }),
        'Exit code of every command or, with failure_rate, of the commands that fail (then 0 counts as 1)',
        3,
      ),
      0,
    ),
    failure_rate: Type.Optional(
      share('Share of the commands that fail: 0 is none, 1 is all. When omitted, exit_code alone decides', 0.02),
    ),
    output_lines: Omissible(
      describe(Type.Integer({ minimum: 0, maximum: 100_000 }), 'Lines that each command writes', 20),
      1,
    ),
    drop_rate: Omissible(
      share(
        'Share of the commands and rollback scripts during which the connection to the target is lost: 0 is none, 1 is all',
        0.001,
      ),
      0,
    ),
  },
  {
    description:
      'Executes nothing and answers as this connection says. Target, action and attempt decide which commands fail, so a ' +
      'repeated deployment has the same result. Rollback scripts succeed unless the connection is lost.',
  },
)

/** The agent on the target enrols with a token; see createAgentToken. */
export const AgentConnection = Strict(
  { type: typeOf('agent', 'Commands run in the agent on the target') },
  { description: 'Commands run in the agent on the target. The agent enrols with a token of createAgentToken' },
)

const whenType = <S extends TSchema>(type: string, then: S) => ({
  if: { properties: { type: { const: type } }, required: ['type'] },
  then,
})

/** `if` and `then` make validation report problems of the given `type` only. */
export const ConnectionInput = Type.Unsafe<
  Static<typeof LocalConnection | typeof SshConnectionInput | typeof AgentConnection | typeof SimulatedConnection>
>({
  type: 'object',
  required: ['type'],
  properties: { type: { enum: ['local', 'ssh', 'agent', 'simulated'] } },
  description: 'How commands reach the target',
  examples: [
    {
      type: 'ssh',
      host: 'web-1.example.com',
      username: 'deploy',
      private_key: '-----BEGIN OPENSSH PRIVATE KEY-----\n…',
    },
    { type: 'local' },
    { type: 'agent' },
    { type: 'simulated', duration_ms: 2_000, failure_rate: 0.02 },
  ],
  allOf: [
    whenType('local', LocalConnection),
    whenType('ssh', SshConnectionInput),
    whenType('agent', AgentConnection),
    whenType('simulated', SimulatedConnection),
  ],
})
export const Connection = Type.Union([LocalConnection, SshConnection, AgentConnection, SimulatedConnection], {
  description: 'How commands reach the target, without secrets',
  examples: [{ type: 'ssh', host: 'web-1.example.com', port: 22, username: 'deploy' }],
})

export const TARGET_STATUSES = ['online', 'stale', 'offline'] as const

export const TargetStatus = describe(
  literals(TARGET_STATUSES),
  'online: seen in the last 90 seconds; stale: in the last 10 minutes; offline: not for longer, or never. Local and simulated ' +
    'targets are online while an instance is',
  'online',
)

export const Target = Strict({
  ...commonFields('target', 'web-1', 'First web server'),
  environment_id: NullableRef('environment', 'The environment that the target belongs to; null: none'),
  tags: describe(Type.Array(Tag), 'Tags, by which deployments select the target'),
  connection: Connection,
  ...shownVariables,
  ...shownSelector,
  status: TargetStatus,
  last_seen_at: NullableMoment(
    'When a command, a probe or the agent last proved that the target can be reached; for local and simulated targets, the last ' +
      'heartbeat of an instance. Null: never',
  ),
  last_error: describe(
    Nullable(Type.String({ maxLength: 500 })),
    'Why the last attempt to reach the target failed, or why it is not online; null if it was reached',
    null,
    'connection refused by web-1.example.com:22',
  ),
  unreachable_since: NullableMoment(
    'When the first attempt failed since the last contact; without an attempt, the last contact. Null if the target was ' +
      'reached, or never tried',
    null,
  ),
  enabled: Flag('Whether deployments may use the target'),
  concurrency: ConcurrencyField,
})

const givenTags = describe(Type.Array(Tag, { maxItems: 100 }), 'Tags, by which deployments select the target')

export const CreateTarget = Strict({
  ...commonInput('web-1', 'First web server'),
  environment_id: Type.Optional(
    describe(
      Nullable(Id('environment')),
      'The environment that the target belongs to',
      '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a02',
    ),
  ),
  tags: Omissible(givenTags, []),
  connection: ConnectionInput,
  ...givenVariables,
  ...givenSelector,
  enabled: Omissible(Flag('Whether deployments may use the target'), true),
  concurrency: Type.Optional(ConcurrencyField),
})

export const ChangeTarget = changeOf(
  CreateTarget,
  '`connection` replaces the whole connection. Its secrets need to be sent again only if its type, host, port or user name ' +
    `changes. \`tags\` replaces all tags. ${VARIABLES_OF_A_CHANGE}`,
)

export const TargetAgent = Strict({
  agent_id: Ref('agent', 'The agent, by UUID. Each enrolment makes a new one'),
  host: Text('Where orchestration instances reach the agent: host name or IP address', 'web-1.example.com'),
  port: Count('Its TCP port', 8_474),
  version: Text('The version of Slipway that the agent runs', '0.1.0'),
  enrolled_at: Moment('When the agent enrolled', MOMENTS.made),
  last_seen_at: NullableMoment('When its last heartbeat, or a command, proved that it can be reached; null: never'),
})

export const AgentToken = Strict({
  token: Text('For `target-agent enrol`, once. It is not shown again', `${STORY.grant}.Vb3kq9…`),
  expires_at: Moment('The token is void from this moment on, an hour after its creation', MOMENTS.later),
})

export const TagRecord = Strict({
  key: Text('Key of the tag', 'role'),
  value: Text('Value of the tag', 'web'),
  target_count: Count('How many targets have it', 3),
})
