import { type Static, Type } from '@sinclair/typebox'
import { commonConfig, integerVariable, urlVariable } from '@slipway/runtime'
import { KEY_EXCHANGES } from './transports/ssh/algorithms.ts'

const NAMES = KEY_EXCHANGES.join('|').replaceAll('.', '\\.')

const localLimit = (description: string) =>
  integerVariable({
    default: 0,
    maximum: 1_000_000_000,
    description: `${description}; 0 for as much as the instance itself`,
  })

const { SLIPWAY_LOG_LEVEL, SLIPWAY_MANAGEMENT_PORT, SLIPWAY_MANAGEMENT_HOST } = commonConfig

export const config = Type.Object({
  SLIPWAY_LOG_LEVEL,
  SLIPWAY_MANAGEMENT_PORT,
  SLIPWAY_MANAGEMENT_HOST,
  SLIPWAY_INSTANCE_NAME: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Name of this instance; unique in the installation',
    examples: ['instance-1'],
  }),
  SLIPWAY_INSTANCE_CAPACITY: integerVariable({
    default: 10,
    minimum: 1,
    maximum: 10_000,
    description: 'How many deployments the instance runs at a time',
  }),
  SLIPWAY_INSTANCE_LABELS: Type.String({
    default: '',
    pattern: '^([^=,]+=[^=,]*(,[^=,]+=[^=,]*)*)?$',
    description: 'Labels of the instance',
    examples: ['site=berlin,network=dmz'],
    expects: '`key=value`, comma separated',
  }),
  SLIPWAY_PARALLEL_LIMIT: integerVariable({
    default: 50,
    minimum: 1,
    maximum: 10_000,
    description: 'How many commands of one deployment the instance runs at a time',
  }),
  SLIPWAY_STEP_OUTPUT_BYTES: integerVariable({
    default: 134_217_728,
    minimum: 1_024,
    maximum: 1_000_000_000_000,
    description: 'Limit of the output of one command, in bytes. The middle of a longer output is left out',
  }),
  SLIPWAY_JOURNAL_MIB: integerVariable({
    default: 4_096,
    minimum: 1,
    maximum: 100_000_000,
    description:
      'Limit of run events that the executor-bridge has not acknowledged, in MiB on the disk. Beyond it, commands wait with their output',
  }),
  SLIPWAY_SSH_HANDSHAKES: integerVariable({
    default: 16,
    minimum: 1,
    maximum: 1_000,
    description:
      'How many ssh connections the instance opens at a time; opening one costs far more than running a command',
  }),
  SLIPWAY_SSH_KEY_EXCHANGES: Type.String({
    default: KEY_EXCHANGES.join(','),
    pattern: `^(${NAMES})(,(${NAMES}))*$`,
    description: 'Key exchange algorithms for ssh hosts, in the order of preference',
    examples: ['curve25519-sha256'],
    expects: `names, comma separated, of ${KEY_EXCHANGES.join(', ')}`,
  }),
  SLIPWAY_LOCAL_USER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,255}$',
      expects: 'a user name or a uid',
      description:
        'User as whom local commands run; the instance must be root or have CAP_SETUID and CAP_SETGID. Unset: they run as ' +
        'the user of the instance, and can read every file that the instance can read',
      examples: ['slipway-local'],
    }),
  ),
  SLIPWAY_LOCAL_DIR: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Folder of this instance alone, with the directories of local commands that run as SLIPWAY_LOCAL_USER; unset: ' +
        'SLIPWAY_JOURNAL_DIR',
      examples: ['/var/lib/slipway/local-1'],
    }),
  ),
  SLIPWAY_LOCAL_MEMORY_MIB: localLimit('How much address space each process of a local command may take, in MiB'),
  SLIPWAY_LOCAL_OPEN_FILES: localLimit('How many files each process of a local command may have open'),
  SLIPWAY_LOCAL_FILE_MIB: localLimit('How long a file may be that a local command writes, in MiB'),
  SLIPWAY_CONTENT_CACHE_MIB: integerVariable({
    default: 10_240,
    minimum: 1,
    maximum: 100_000_000,
    description: 'Limit of the cache of content for files, in MiB; content that current runs need is kept beyond it',
  }),
  SLIPWAY_BRIDGE_URL: urlVariable({
    schemes: ['http', 'https'],
    description: 'Base URL of the executor-bridge',
    examples: ['https://bridge.example.com:8082'],
  }),
  SLIPWAY_BRIDGE_CA_FILE: commonConfig.SLIPWAY_BRIDGE_CA_FILE,
  SLIPWAY_JOIN_TOKEN_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File with the token for the join: a join token, or a Kubernetes service account token; `-` for standard input. Needed until the instance has joined',
      examples: ['/run/secrets/slipway-join-token'],
    }),
  ),
  SLIPWAY_JOURNAL_DIR: Type.String({
    minLength: 1,
    description: 'Folder of this instance alone: its identity, the journals of its runs, directories of local commands',
    examples: ['/var/lib/slipway/instance-1'],
  }),
})

export type Config = Static<typeof config>
