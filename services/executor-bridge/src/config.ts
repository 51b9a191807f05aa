import { type Static, Type } from '@sinclair/typebox'
import { commonConfig, integerVariable, portVariable, secretVariable, urlVariable } from '@slipway/runtime'

/** The executor-bridge's environment variables. */
export const bridgeConfig = Type.Object({
  DATABASE_URL: commonConfig.DATABASE_URL,
  RABBITMQ_URL: commonConfig.RABBITMQ_URL,
  REDIS_URL: commonConfig.REDIS_URL,
  SLIPWAY_LOG_LEVEL: commonConfig.SLIPWAY_LOG_LEVEL,
  SLIPWAY_MANAGEMENT_PORT: commonConfig.SLIPWAY_MANAGEMENT_PORT,
  SLIPWAY_MANAGEMENT_HOST: commonConfig.SLIPWAY_MANAGEMENT_HOST,
  SLIPWAY_NAMESPACE: commonConfig.SLIPWAY_NAMESPACE,
  SLIPWAY_ENCRYPTION_KEYS: commonConfig.SLIPWAY_ENCRYPTION_KEYS,
  SLIPWAY_BRIDGE_PORT: portVariable({ default: 8082, description: 'Port on which instances reach the bridge' }),
  SLIPWAY_BRIDGE_HOST: Type.String({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address on which instances reach the bridge',
    examples: ['0.0.0.0'],
  }),
  SLIPWAY_BRIDGE_TLS_CERT_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'File with the certificate of the bridge in PEM, followed by intermediate certificates; a changed file is used without a restart',
      examples: ['/etc/slipway/tls/tls.crt'],
    }),
  ),
  SLIPWAY_BRIDGE_TLS_KEY_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'File with the private key of that certificate in PEM',
      examples: ['/etc/slipway/tls/tls.key'],
    }),
  ),
  SLIPWAY_BRIDGE_PLAIN: Type.Boolean({
    default: false,
    description:
      'Whether the bridge may serve plain HTTP on an address that other machines reach, as behind a proxy that encrypts',
    expects: 'true or false',
    examples: ['false'],
  }),
  SLIPWAY_KUBERNETES_ISSUER: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      description:
        'Issuer of the service account tokens of a Kubernetes cluster; with it pods join with their service account, without it only join tokens count',
      expects: 'the URL that `iss` of the tokens says',
      examples: ['https://kubernetes.default.svc.cluster.local'],
    }),
  ),
  SLIPWAY_KUBERNETES_SERVICE_ACCOUNTS: Type.Optional(
    Type.String({
      pattern: '^[^/,\\s]+/[^/,\\s]+(\\s*,\\s*[^/,\\s]+/[^/,\\s]+)*$',
      description: 'The service accounts whose pods may join as instances',
      expects: '`namespace/name`, comma separated',
      examples: ['slipway/orchestration-instance'],
    }),
  ),
  SLIPWAY_KUBERNETES_LABELS: Type.String({
    default: '',
    pattern: '^([^=,]+(=[^,]*)?(,[^=,]+(=[^,]*)?)*)?$',
    description: 'Labels that instances which join with a service account may claim; a key alone allows any value',
    expects: '`key=value` or `key`, comma separated',
    examples: ['site=berlin,pool'],
  }),
  SLIPWAY_KUBERNETES_AUDIENCE: Type.String({
    default: 'slipway',
    minLength: 1,
    description: 'Audience of the service account tokens',
    examples: ['slipway'],
  }),
  SLIPWAY_KUBERNETES_KEYS_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      description: "Where the cluster's keys are (JWKS); unset: found by OIDC discovery at the issuer",
      expects: 'a URL that starts with https:// or http://',
      examples: ['https://kubernetes.default.svc/openid/v1/jwks'],
    }),
  ),
  SLIPWAY_KUBERNETES_CA_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'File with the CA certificates of the API server, in PEM; unset: those of the system',
      examples: ['/var/run/secrets/kubernetes.io/serviceaccount/ca.crt'],
    }),
  ),
  SLIPWAY_KUBERNETES_TOKEN_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'File with the token by which the API server knows the bridge; unset: its keys are read without one',
      examples: ['/var/run/secrets/kubernetes.io/serviceaccount/token'],
    }),
  ),
  SLIPWAY_PROBE_SECONDS: Type.Integer({
    default: 60,
    minimum: 0,
    maximum: 3_600,
    description: 'How often instances look whether ssh targets can be reached; 0 for never',
    examples: [60],
    expects: 'a number from 0 to 3600',
  }),
  SLIPWAY_LOG_DEPLOYMENT_BYTES: Type.Integer({
    default: 1024 ** 3,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Bytes of the log of a deployment, as stored; beyond, output of its commands is dropped; 0 for no limit',
    examples: [1024 ** 3],
  }),
  SLIPWAY_LOG_TENANT_DAY_BYTES: Type.Integer({
    default: 20 * 1024 ** 3,
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Bytes that all deployments of a tenant log in a day (UTC); those without tenant count as one more; beyond, output of commands is dropped; 0 for no limit',
    examples: [20 * 1024 ** 3],
  }),
  SLIPWAY_ANALYSIS_URL: Type.Optional(
    urlVariable({
      schemes: ['http', 'https'],
      description: 'An OpenAI-compatible endpoint to ask why commands failed; unset: the built-in rules alone say why',
      examples: ['https://api.openai.com/v1'],
    }),
  ),
  SLIPWAY_ANALYSIS_KEY: Type.Optional(secretVariable({ description: 'The key that the analysis endpoint wants' })),
  SLIPWAY_ANALYSIS_MODEL: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'The model that the analysis endpoint is asked for' }),
  ),
  SLIPWAY_ANALYSIS_TIMEOUT_SECONDS: integerVariable({
    default: 20,
    minimum: 1,
    maximum: 120,
    description: 'How long the analysis endpoint may take; what the rules say is shown until it answers',
  }),
  SLIPWAY_ANALYSIS_ALLOW_PRIVATE: Type.Boolean({
    default: false,
    description: 'Whether the analysis endpoint may be at a private, loopback or link-local address',
    expects: 'true or false',
    examples: ['false'],
  }),
})

export type BridgeConfig = Static<typeof bridgeConfig>
