import { type Static, Type } from '@sinclair/typebox'
import { commonConfig, portVariable, secretVariable } from '@slipway/runtime'

/** What the executor-bridge reads from its environment. */
export const bridgeConfig = Type.Object({
  DATABASE_URL: commonConfig.DATABASE_URL,
  RABBITMQ_URL: commonConfig.RABBITMQ_URL,
  REDIS_URL: commonConfig.REDIS_URL,
  SLIPWAY_LOG_LEVEL: commonConfig.SLIPWAY_LOG_LEVEL,
  SLIPWAY_MANAGEMENT_PORT: commonConfig.SLIPWAY_MANAGEMENT_PORT,
  SLIPWAY_MANAGEMENT_HOST: commonConfig.SLIPWAY_MANAGEMENT_HOST,
  SLIPWAY_NAMESPACE: commonConfig.SLIPWAY_NAMESPACE,
  SLIPWAY_ENCRYPTION_KEYS: commonConfig.SLIPWAY_ENCRYPTION_KEYS,
  SLIPWAY_ENROLMENT_TOKEN: secretVariable({
    description: 'What an orchestration instance presents to enrol',
    minLength: 16,
    examples: ['<output of `openssl rand -hex 32`>'],
  }),
  SLIPWAY_BRIDGE_PORT: portVariable({ default: 8082, description: 'Port on which instances reach the bridge' }),
  SLIPWAY_BRIDGE_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address on which instances reach the bridge',
    examples: ['0.0.0.0'],
  }),
})

export type BridgeConfig = Static<typeof bridgeConfig>
