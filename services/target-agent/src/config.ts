import { type Static, Type } from '@sinclair/typebox'
import { commonConfig, integerVariable, portVariable } from '@slipway/runtime'

export const ADDRESS_PATTERN = '^([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+\\])?(:\\d{1,5})?$'

export const agentConfig = Type.Object({
  SLIPWAY_LOG_LEVEL: commonConfig.SLIPWAY_LOG_LEVEL,
  SLIPWAY_BRIDGE_CA_FILE: commonConfig.SLIPWAY_BRIDGE_CA_FILE,
  SLIPWAY_AGENT_STATE_DIR: Type.String({
    default: '/var/lib/slipway-agent',
    minLength: 1,
    description: 'Folder of this agent alone: its identity, the output of commands, cached content',
    examples: ['/var/lib/slipway-agent'],
  }),
  SLIPWAY_AGENT_HOST: Type.String({
    default: '0.0.0.0',
    minLength: 1,
    description: 'Address on which instances reach the agent',
    examples: ['0.0.0.0'],
  }),
  SLIPWAY_AGENT_PORT: portVariable({ default: 8474, description: 'Port on which instances reach the agent' }),
  SLIPWAY_AGENT_ADDRESS: Type.String({
    default: '',
    pattern: ADDRESS_PATTERN,
    description: 'Address under which instances reach the agent; empty for the address from which it calls the bridge',
    examples: ['db-1.example.com:8474'],
    expects: '`host`, `host:port` or `[IPv6]:port`',
  }),
  SLIPWAY_AGENT_ORPHAN_SECONDS: integerVariable({
    default: 120,
    minimum: 5,
    maximum: 86_400,
    description: 'Seconds without a call of an instance after which the agent kills a command',
  }),
  SLIPWAY_AGENT_COMMANDS: integerVariable({
    default: 64,
    minimum: 1,
    maximum: 1_000,
    description: 'How many commands the agent runs at a time',
  }),
  SLIPWAY_AGENT_SPOOL_MIB: integerVariable({
    default: 64,
    minimum: 1,
    maximum: 100_000,
    description: 'Limit of the output of one command that waits on the disk, in MiB; then the command waits',
  }),
  SLIPWAY_AGENT_CONTENT_CACHE_MIB: integerVariable({
    default: 1_024,
    minimum: 1,
    maximum: 100_000_000,
    description: 'Limit of the content cache on the disk, in MiB',
  }),
})

export type AgentConfig = Static<typeof agentConfig>
