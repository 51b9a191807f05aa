import { Type } from '@sinclair/typebox'
import { DEFAULT_FILE_MODE, DEFAULT_MAX_RETRIES, DEFAULT_TIMEOUT_SECONDS } from '@slipway/domain'
import {
  ContentId,
  Description,
  describe,
  FileMode,
  Flag,
  Id,
  literals,
  Moment,
  NullableText,
  Omissible,
  Strict,
  Text,
  Uuid,
  VARIABLE_NAME,
  Variables,
  Version,
  VersionRequirement,
} from '../schema.ts'
import { MOMENTS, STORY } from '../story.ts'
import { changeOf, commonFields, commonInput, expectedUpdate } from './records.ts'

export const VariableDefinition = Strict({
  id: Type.Optional(
    describe(Uuid, 'A UUID of your choice that `prompted_values` may name instead of the name', STORY.request),
  ),
  name: describe(
    Type.String({ pattern: VARIABLE_NAME }),
    'Letters, digits and _. The script reads the value as `SLIPWAY_VAR_<NAME>` in upper case, or as `{{ name }}`',
    'service',
  ),
  type: Omissible(
    describe(literals(['string', 'number', 'boolean', 'json']), 'What the value must be', 'string'),
    'string',
  ),
  description: Type.Optional(describe(Description, 'What the variable is for', 'The systemd unit to restart')),
  default: Type.Optional(describe(Type.Unknown(), 'The value if nothing else gives one', 'nginx')),
  required: Omissible(Flag('Whether a deployment without a value is refused'), false),
  prompted: Omissible(
    Flag('Whether people are asked for the value when they deploy; `prompted_values` gives it', false),
    false,
  ),
  sensitive: Omissible(
    Flag(
      'Whether the value is a secret: sealed, shown as `***`, masked in output. It then needs at least 4 characters',
      false,
    ),
    false,
  ),
})

const script = (description: string, example: string) =>
  describe(Type.String({ minLength: 1, maxLength: 256 * 1024 }), description, example)

const definitions = describe(
  Type.Array(VariableDefinition, { maxItems: 1_000 }),
  'The variables that a deployment of this version needs or accepts',
)

export const INTERPRETERS = ['sh', 'bash', 'python3', 'node', 'pwsh'] as const

/** Content for the working directory of the command. */
export const ActionFile = Strict({
  content: describe(ContentId, 'Id of content, from POST /api/v1/content', STORY.content),
  path: describe(
    Type.String({ minLength: 1, maxLength: 1_024 }),
    'Relative to the working directory and below it',
    'etc/nginx.conf',
  ),
  mode: Omissible(FileMode, DEFAULT_FILE_MODE),
})

export const MIN_CHECK_INTERVAL_SECONDS = 60

/** Tells by its exit code whether a target is as the action left it. */
const ActionCheck = Strict(
  {
    script: script('The script of the check. It must change nothing', 'systemctl is-active --quiet nginx'),
    interpreter: Type.Optional(describe(literals(INTERPRETERS), 'That of the action when omitted', 'sh')),
    timeout_seconds: Type.Optional(
      describe(
        Type.Integer({ minimum: 1, maximum: 3_600 }),
        'Seconds until the check is killed; that of the action when omitted, or 60 if it has none. More than 300 are cut to 300',
        60,
      ),
    ),
    interval_seconds: Type.Optional(
      describe(
        Type.Integer({ minimum: MIN_CHECK_INTERVAL_SECONDS, maximum: 31_536_000 }),
        'Seconds between two checks; without it, as many as SLIPWAY_DRIFT_CHECK_INTERVAL says',
        900,
      ),
    ),
  },
  {
    description:
      'Tells whether a target is as the action left it: exit code 0, it is; 1, it has drifted; anything else, the check could ' +
      'not be done. It runs with the variables, files, environment and working directory of the action.',
  },
)

export const ActionDefinition = Strict(
  {
    type: describe(Type.Literal('script'), 'The only kind of action', 'script'),
    script: script(
      'The script, at most 256 KiB. `{{ name }}` becomes the value of the variable, quoted for its place in the script. A place that a program evaluates takes numbers only, or is refused',
      'systemctl restart "$SLIPWAY_VAR_SERVICE"',
    ),
    interpreter: Omissible(
      describe(literals(INTERPRETERS), 'The program on the target that runs the script', 'sh'),
      'sh',
    ),
    working_directory: Type.Optional(
      describe(
        Type.String({ minLength: 1, maxLength: 4_096 }),
        'The directory of the command. When omitted, an empty directory for this command alone',
        '/srv/storefront',
      ),
    ),
    env: Type.Optional(
      Type.Record(Type.String({ pattern: VARIABLE_NAME }), Type.String({ maxLength: 131_072 }), {
        additionalProperties: false,
        maxProperties: 1_000,
        description: 'Environment variables of the command, by name; their values are used as they are',
        examples: [{ LANG: 'C.UTF-8' }],
      }),
    ),
    files: Type.Optional(
      describe(
        Type.Array(ActionFile, { maxItems: 100 }),
        'Content that lies in the working directory before the script starts',
      ),
    ),
    rollback: Type.Optional(
      describe(
        Strict({
          script: script('The script that undoes the action', 'systemctl start "$SLIPWAY_VAR_SERVICE"'),
        }),
        'Runs after a failure if the rollback strategy of the deployment names the step. It receives the same variables and files',
      ),
    ),
    check: Type.Optional(ActionCheck),
    timeout_seconds: Omissible(
      describe(
        Type.Integer({ minimum: 1, maximum: 86_400 }),
        'Seconds until an attempt of the command is killed. A deployment may set another timeout',
        120,
      ),
      DEFAULT_TIMEOUT_SECONDS,
    ),
    max_retries: Omissible(
      describe(
        Type.Integer({ minimum: 0, maximum: 10 }),
        'How often a failed command is retried. A deployment may set another number',
        1,
      ),
      DEFAULT_MAX_RETRIES,
    ),
    variables: Type.Optional(definitions),
    templates: Omissible(
      Flag(
        'Whether `{{ name }}` in the scripts becomes a value. False: it is the text of another tool, such as Jinja or Helm',
        true,
      ),
      true,
    ),
  },
  { description: 'A script with all that it needs' },
)

const requirement = (kind: string) =>
  Type.Optional(
    describe(
      VersionRequirement,
      `An npm version range of the ${kind}. The highest version in the range counts; when omitted, the highest that is no ` +
        'pre-release. A deployment resolves the range when it is planned',
      '^1.0.0',
    ),
  )
const entryVariables = Type.Optional(
  describe(Variables, 'Values for this entry. They override the defaults of the definitions', { service: 'nginx' }),
)

export const SequenceDefinition = Strict(
  {
    actions: describe(
      Type.Array(
        Strict({
          action_id: Id('action'),
          version_requirement: requirement('action'),
          variables: entryVariables,
        }),
        { minItems: 1, maxItems: 500 },
      ),
      'The actions in the order in which they run on each target',
    ),
    variables: Type.Optional(definitions),
  },
  { description: 'An ordered list of actions' },
)

export const SolutionDefinition = Strict(
  {
    sequences: describe(
      Type.Array(
        Strict({
          sequence_id: Id('sequence'),
          version_requirement: requirement('sequence'),
          variables: entryVariables,
        }),
        { minItems: 1, maxItems: 100 },
      ),
      'The sequences in the order in which they run on each target',
    ),
    variables: Type.Optional(definitions),
  },
  { description: 'An ordered list of sequences' },
)

const versionLine = Strict({
  version: Text('The semantic version', '1.1.0'),
  created_at: Moment('When the version was published', MOMENTS.made),
})

export const SourceListItem = Strict({
  ...commonFields('solution', 'storefront', 'The web shop of Acme'),
  latest_version: NullableText('The highest version that is no pre-release; null: there is none', '1.1.0'),
})
export const Source = Strict({
  ...SourceListItem.properties,
  versions: describe(Type.Array(versionLine), 'All published versions, the newest first'),
})
export const SourceVersionListItem = versionLine
export const SourceVersion = Strict({
  ...versionLine.properties,
  definition: describe(
    Type.Unknown(),
    'The definition as it was published: an ActionDefinition, SequenceDefinition or SolutionDefinition. Sensitive values are `***`',
    { sequences: [{ sequence_id: STORY.sequence, version_requirement: '^1.0.0' }] },
  ),
})

const warnings = describe(
  Type.Array(Type.String()),
  'What people should know about the scripts: what was changed in them, what cannot be read, which values another program evaluates',
  [],
)

export const PublishedSource = Strict({ ...Source.properties, warnings })
export const PublishedVersion = Strict({ ...SourceVersion.properties, warnings })

const version = describe(
  Version,
  'A full semantic version that the source does not have yet. A published version never changes',
  '1.0.0',
)

const createSource = <D extends typeof ActionDefinition | typeof SequenceDefinition | typeof SolutionDefinition>(
  definition: D,
  name: string,
  about: string,
) => Strict({ ...commonInput(name, about), version, definition })

export const CreateAction = createSource(ActionDefinition, 'restart web', 'Restarts the web server')
export const CreateSequence = createSource(SequenceDefinition, 'release web', 'Installs and restarts the web server')
export const CreateSolution = createSource(SolutionDefinition, 'storefront', 'The web shop of Acme')
const changed = commonInput('storefront', 'The web shop of Acme')
export const ChangeSource = changeOf(
  Strict({ name: changed.name, description: changed.description, managed_by: changed.managed_by }),
  'A published version never changes: publish a new version instead.',
)
export const CreateActionVersion = Strict({ version, definition: ActionDefinition, ...expectedUpdate })
export const CreateSequenceVersion = Strict({ version, definition: SequenceDefinition, ...expectedUpdate })
export const CreateSolutionVersion = Strict({ version, definition: SolutionDefinition, ...expectedUpdate })
