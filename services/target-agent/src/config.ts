import { type Static, Type } from '@sinclair/typebox'
import { commonConfig, figureVariable, portVariable } from '@slipway/runtime'

export const ADDRESS_PATTERN = '^([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%]+\\])?(:\\d{1,5})?$'

/** What the agent reads from its environment. */
export const agentConfig = Type.Object({
  SLIPWAY_LOG_LEVEL: commonConfig.SLIPWAY_LOG_LEVEL,
  SLIPWAY_BRIDGE_CA_FILE: commonConfig.SLIPWAY_BRIDGE_CA_FILE,
  SLIPWAY_AGENT_STATE_DIR: Type.String({
    default: '/var/lib/slipway-agent',
    minLength: 1,
    description: 'Folder of this agent alone: who it is, the output of commands, cached content',
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
    description: 'Under which address instances find it, where that is not the one from which it calls the bridge',
    examples: ['db-1.example.com:8474'],
    expects: '`host`, `host:port` or `[IPv6]:port`',
  }),
  SLIPWAY_AGENT_ORPHAN_SECONDS: figureVariable({
    default: 120,
    minimum: 5,
    maximum: 86_400,
    description: 'A command that no instance asks about for so long is killed',
  }),
  SLIPWAY_AGENT_COMMANDS: figureVariable({
    default: 64,
    minimum: 1,
    maximum: 1_000,
    description: 'How many commands it runs at a time',
  }),
  SLIPWAY_AGENT_SPOOL_MIB: figureVariable({
    default: 64,
    minimum: 1,
    maximum: 100_000,
    description: 'How much output of a command may wait on its disk, in MiB',
  }),
  SLIPWAY_AGENT_CONTENT_CACHE_MIB: figureVariable({
    default: 1_024,
    minimum: 1,
    maximum: 100_000_000,
    description: 'How much content it keeps on its disk, in MiB',
  }),
})

export type AgentConfig = Static<typeof agentConfig>
