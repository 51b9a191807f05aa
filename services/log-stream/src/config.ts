import { Type } from '@sinclair/typebox'
import { rateVariables } from '@slipway/http/limits'
import { commonConfig, integerVariable, portVariable } from '@slipway/runtime'

/**
 * The log-stream's environment variables. The encryption keys open the variables of targets, and verify the gateway's mark on
 * its requests.
 */
export const logStreamConfig = Type.Object({
  DATABASE_URL: commonConfig.DATABASE_URL,
  RABBITMQ_URL: commonConfig.RABBITMQ_URL,
  REDIS_URL: commonConfig.REDIS_URL,
  SLIPWAY_ENCRYPTION_KEYS: commonConfig.SLIPWAY_ENCRYPTION_KEYS,
  SLIPWAY_LOG_LEVEL: commonConfig.SLIPWAY_LOG_LEVEL,
  SLIPWAY_MANAGEMENT_PORT: commonConfig.SLIPWAY_MANAGEMENT_PORT,
  SLIPWAY_MANAGEMENT_HOST: commonConfig.SLIPWAY_MANAGEMENT_HOST,
  SLIPWAY_NAMESPACE: commonConfig.SLIPWAY_NAMESPACE,
  ...rateVariables,
  SLIPWAY_LOG_STREAM_PORT: portVariable({
    default: 8081,
    description: 'Port on which the gateway and ingresses reach the streams',
  }),
  SLIPWAY_LOG_STREAM_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address on which the gateway and ingresses reach the streams',
    examples: ['0.0.0.0'],
  }),
  SLIPWAY_MAX_STREAMS: integerVariable({
    default: 10_000,
    maximum: 1_000_000,
    description: 'Streams that may be open in this process; 0: any number',
  }),
  SLIPWAY_MAX_STREAMS_PER_USER: integerVariable({
    default: 1_000,
    maximum: 1_000_000,
    description: 'Streams of one user that may be open in this process; 0: any number',
  }),
  SLIPWAY_MAX_STREAMS_PER_TENANT: integerVariable({
    default: 5_000,
    maximum: 1_000_000,
    description: 'Streams of all users of one tenant that may be open in this process; 0: any number',
  }),
})
