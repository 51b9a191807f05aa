import { Type } from '@sinclair/typebox'
import { loginVariables, rateVariables } from '@slipway/http/limits'
import { commonConfig, integerVariable, portVariable, secretVariable, urlVariable } from '@slipway/runtime'

const GIB = 1024 ** 3

/** What the gateway reads from its environment. */
export const gatewayConfig = Type.Object({
  DATABASE_URL: commonConfig.DATABASE_URL,
  RABBITMQ_URL: commonConfig.RABBITMQ_URL,
  REDIS_URL: commonConfig.REDIS_URL,
  SLIPWAY_LOG_LEVEL: commonConfig.SLIPWAY_LOG_LEVEL,
  SLIPWAY_MANAGEMENT_PORT: commonConfig.SLIPWAY_MANAGEMENT_PORT,
  SLIPWAY_MANAGEMENT_HOST: commonConfig.SLIPWAY_MANAGEMENT_HOST,
  SLIPWAY_NAMESPACE: commonConfig.SLIPWAY_NAMESPACE,
  SLIPWAY_ENCRYPTION_KEYS: commonConfig.SLIPWAY_ENCRYPTION_KEYS,
  SLIPWAY_WEBHOOK_ALLOW_PRIVATE: commonConfig.SLIPWAY_WEBHOOK_ALLOW_PRIVATE,
  SLIPWAY_DEVELOPMENT: commonConfig.SLIPWAY_DEVELOPMENT,
  SLIPWAY_JWT_KEYS: secretVariable({
    description: 'Keys that sign access tokens, comma separated; the first signs, the others still verify',
    expects: '`<key id>:<base64 of at least 32 bytes>`, comma separated',
    examples: ['2026-01:<output of `openssl rand -base64 32`>'],
  }),
  SLIPWAY_PORT: portVariable({ default: 8080, description: 'Port of the API', examples: [8080] }),
  SLIPWAY_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address on which the API listens',
    examples: ['0.0.0.0'],
  }),
  SLIPWAY_LOG_STREAM_URL: urlVariable({
    schemes: ['http', 'https'],
    description: 'Where the log-stream service is',
    examples: ['http://127.0.0.1:8081'],
  }),
  ...rateVariables,
  ...loginVariables,
  SLIPWAY_CONTENT_RETENTION_DAYS: integerVariable({
    default: 30,
    maximum: 36_500,
    description: 'Days without use and without a new upload after which content is deleted; 0: never',
  }),
  SLIPWAY_CONTENT_TENANT_BYTES: integerVariable({
    default: 10 * GIB,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Bytes of content that the users of one tenant may upload; users without tenant count as one more tenant; 0: no limit',
  }),
  SLIPWAY_CONTENT_TOTAL_BYTES: integerVariable({
    default: 50 * GIB,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Bytes of content that all tenants together may store; 0: no limit',
  }),
  SLIPWAY_FREEZES_PER_TENANT: integerVariable({
    default: 200,
    minimum: 1,
    maximum: 100_000,
    description:
      'Freezes that one tenant may have before they end; those without tenant count as one more tenant. Every create checks all of them',
  }),
  SLIPWAY_OIDC_ALLOW_PRIVATE: Type.Boolean({
    default: false,
    description: 'Whether issuers of tokens of pipelines may be at private, loopback and link-local addresses',
    expects: 'true or false',
    examples: ['false'],
  }),
  SLIPWAY_PUBLIC_URL: Type.Optional(
    urlVariable({
      schemes: ['http', 'https'],
      description:
        'The address of the API as browsers see it, without a path. Needed with SLIPWAY_OIDC_FILE; in development, the address on which the API listens',
      examples: ['https://slipway.example.com'],
    }),
  ),
  SLIPWAY_OIDC_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File with the OpenID Connect providers (YAML or JSON) with which users log in; a changed file applies without a restart',
      examples: ['/etc/slipway/oidc.yaml'],
    }),
  ),
  SLIPWAY_PASSWORD_LOGIN: Type.Boolean({
    default: true,
    description: 'Whether users may log in with e-mail and password; false: only users with `break_glass` may',
    expects: 'true or false',
    examples: ['false'],
  }),
  SLIPWAY_COOKIE_SECURE: Type.Boolean({
    default: true,
    description: 'Whether the refresh cookie is sent over HTTPS only; false where the API is reached over plain HTTP',
    expects: 'true or false',
    examples: ['false'],
  }),
  SLIPWAY_ADMIN_EMAIL: Type.Optional(
    Type.String({
      format: 'email',
      maxLength: 320,
      expects: 'an e-mail address',
      description: 'E-mail of the first administrator; read only while there is no user',
      examples: ['admin@example.com'],
    }),
  ),
  SLIPWAY_ADMIN_PASSWORD: Type.Optional(
    secretVariable({
      description: 'Password of the first administrator, 12 to 128 characters; read only while there is no user',
      examples: ['<12 to 128 characters>'],
    }),
  ),
})
