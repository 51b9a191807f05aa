import { type TInteger, type TLiteral, type TString, type TUnion, Type } from '@sinclair/typebox'

interface Described<T> {
  description: string
  default?: T
  examples?: T[]
}

/** A TCP port. 0 lets the system choose, or means "none" if the description says so. */
export function portVariable(options: Described<number>): TInteger {
  return Type.Integer({
    minimum: 0,
    maximum: 65535,
    examples: [options.default || 8080],
    expects: 'a port number from 0 to 65535',
    ...options,
  })
}

export function integerVariable(options: {
  default: number
  minimum?: number
  maximum: number
  description: string
  examples?: number[]
  /** Values in the range that are not allowed. `expects` says so. */
  not?: { minimum: number; maximum: number }
  expects?: string
}): TInteger {
  const { minimum = 0, maximum } = options
  const expects = `a whole number from ${minimum} to ${maximum}`
  return Type.Integer({ minimum, expects, examples: [options.default], ...options })
}

/** One of a few words. */
export function choiceVariable<const C extends readonly string[]>(
  choices: C,
  options: { default: C[number]; description: string; examples: [C[number]] },
): TUnion<TLiteral<C[number]>[]> {
  return Type.Union(
    choices.map((choice: C[number]) => Type.Literal(choice)),
    { expects: `one of ${choices.join(', ')}`, ...options },
  )
}

/** A URL with one of the schemes. A URL may hold a password, so error messages do not show the value. */
export function urlVariable(options: Described<string> & { schemes: string[] }): TString {
  const { schemes, ...rest } = options
  return Type.String({
    pattern: `^(${schemes.join('|')})://[^\\s]+$`,
    expects: `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    writeOnly: true,
    ...rest,
  })
}

/** A value that error messages and logs never show. */
export function secretVariable(options: {
  description: string
  examples?: string[]
  minLength?: number
  pattern?: string
  expects?: string
}): TString {
  const { minLength = 1, ...rest } = options
  return Type.String({
    minLength,
    expects: `a text of at least ${minLength} characters`,
    writeOnly: true,
    ...rest,
  })
}

const KEY_32 = '[A-Za-z0-9_-]{1,64}:[A-Za-z0-9+/]{43}='

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The variables that several services read. The schema of a service picks from them. */
export const commonConfig = {
  DATABASE_URL: urlVariable({
    schemes: ['postgres', 'postgresql'],
    description: 'URL of Postgres, with user, password and database name',
    examples: ['postgres://slipway:password@127.0.0.1:5432/slipway'],
  }),
  RABBITMQ_URL: urlVariable({
    schemes: ['amqp', 'amqps'],
    description: 'URL of RabbitMQ, with user, password and virtual host',
    examples: ['amqp://slipway:password@127.0.0.1:5672'],
  }),
  REDIS_URL: urlVariable({
    schemes: ['redis', 'rediss'],
    description: 'URL of Redis, with user and password',
    examples: ['redis://slipway_gateway:password@127.0.0.1:6379'],
  }),
  SLIPWAY_DEVELOPMENT: Type.Boolean({
    default: false,
    description:
      'Whether the public secrets of the development setup are accepted, and plain HTTP to issuers on this machine. Each start with `true` logs a warning',
    expects: 'true or false',
    examples: ['true'],
  }),
  SLIPWAY_LOG_LEVEL: choiceVariable(LOG_LEVELS, {
    default: 'info',
    description: 'Lowest level of written log lines',
    examples: ['info'],
  }),
  SLIPWAY_MANAGEMENT_PORT: portVariable({
    default: 0,
    description: 'Port of /livez, /readyz and /metrics; 0 switches them off',
    examples: [8090],
  }),
  SLIPWAY_MANAGEMENT_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address on which the management port listens',
    examples: ['0.0.0.0'],
  }),
  SLIPWAY_NAMESPACE: Type.String({
    default: 'slipway',
    pattern: '^[a-z][a-z0-9-]{0,39}$',
    expects: 'a lower-case name of letters, digits and dashes, at most 40 characters',
    description: 'Prefix of all names in RabbitMQ and Redis; suites that share servers need different ones',
    examples: ['slipway'],
  }),
  SLIPWAY_ENCRYPTION_KEYS: secretVariable({
    description: 'Keys that seal secrets at rest, comma separated; the first seals, the others still open',
    pattern: `^\\s*${KEY_32}(\\s*,\\s*${KEY_32})*\\s*$`,
    expects: '`<key id>:<base64 of 32 bytes>`, comma separated',
    examples: ['2026-01:<output of `openssl rand -base64 32`>'],
  }),
  SLIPWAY_ANALYSIS_ENABLED: Type.Boolean({
    default: true,
    description: 'Whether failed commands of new deployments get an analysis',
    expects: 'true or false',
    examples: ['true'],
  }),
  SLIPWAY_BRIDGE_CA_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File with the CA certificates (PEM) to verify the certificate of the bridge with, instead of those of the system; a changed file applies without a restart',
      examples: ['/etc/slipway/trust/ca.crt'],
    }),
  ),
  SLIPWAY_WEBHOOK_ALLOW_PRIVATE: Type.Boolean({
    default: false,
    description: 'Whether webhooks may lead to private, loopback and link-local addresses',
    expects: 'true or false',
    examples: ['false'],
  }),
}

const { SLIPWAY_DEVELOPMENT, SLIPWAY_LOG_LEVEL, SLIPWAY_MANAGEMENT_PORT, SLIPWAY_MANAGEMENT_HOST } = commonConfig

/** The variables of every service. */
export const processConfig = {
  NODE_ENV: Type.Optional(
    Type.String({
      description:
        'With `production` (set by the images) a service refuses the public secrets of the development setup',
      examples: ['production'],
    }),
  ),
  SLIPWAY_DEVELOPMENT,
  SLIPWAY_LOG_LEVEL,
  SLIPWAY_MANAGEMENT_PORT,
  SLIPWAY_MANAGEMENT_HOST,
  SLIPWAY_DRAIN_SECONDS: integerVariable({
    default: 0,
    maximum: 60,
    description:
      'How long a stopping service reports "not ready" and still serves requests; behind a load balancer, as long as the balancer needs to notice',
    examples: [5],
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    urlVariable({
      schemes: ['http', 'https'],
      description: 'Base URL of a collector that receives traces over OTLP/HTTP; without it, no traces are recorded',
      examples: ['http://127.0.0.1:4318'],
    }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(
    secretVariable({
      description: 'Headers for the collector, such as an authorization',
      pattern: '^[^=,\\s]+=[^,]*(,[^=,]+=[^,]*)*$',
      expects: '`name=value`, comma separated',
      examples: ['authorization=Bearer <token>'],
    }),
  ),
}
