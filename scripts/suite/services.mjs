// The processes of the suite: what each one is told through its environment, and where it listens.
import path from 'node:path'
import { oidcService, oidcSettings } from './oidc.mjs'
import { joinTokenFile, root, stateDir } from './settings.mjs'

const LOOPBACK = '127.0.0.1'
const SECRETS = ['SLIPWAY_ADMIN_EMAIL', 'SLIPWAY_ADMIN_PASSWORD', 'SLIPWAY_ENCRYPTION_KEYS', 'SLIPWAY_JWT_KEYS']
const SERVERS = /^(DATABASE_URL|RABBITMQ_URL|REDIS_URL)(_|$)/
// Of the calling `make`: a deployed action that runs make must not take part in it.
const FOREIGN = ['MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'MAKEOVERRIDES', 'MAKE_TERMOUT', 'MAKE_TERMERR']

/** A service's own user of a server where there is one; else the one user of all. */
function ownAddress(servers, variable, service) {
  return servers[`${variable}_${service.replaceAll('-', '_').toUpperCase()}`] || servers[variable]
}

const pick = (from, names) => Object.fromEntries(names.map((name) => [name, from[name]]))

/**
 * Every service as { name, main, env, url, management, listens: [{ port, host, variable }] }, in the order in which
 * they are shown. The login provider, if there is one, has `ready` instead of `management`: the address that says so. Each is given only the secrets and servers that it needs.
 */
export function services({ ports, settings, servers, local = {} }) {
  const gatewayHost = process.env.SLIPWAY_HOST || LOOPBACK
  const at = (port) => `http://${LOOPBACK}:${port}`
  const serversOf = (service) => ({
    DATABASE_URL: ownAddress(servers, 'DATABASE_URL', service),
    RABBITMQ_URL: ownAddress(servers, 'RABBITMQ_URL', service),
  })
  const redisOf = (service) => ({ REDIS_URL: ownAddress(servers, 'REDIS_URL', service) })
  const listener = (port, variable, host = LOOPBACK) => ({ port, variable, host })

  const table = [
    {
      name: 'gateway',
      listens: [listener(ports.gateway, 'SLIPWAY_PORT', gatewayHost)],
      env: {
        ...serversOf('gateway'),
        ...redisOf('gateway'),
        ...pick(settings, [
          'SLIPWAY_ADMIN_EMAIL',
          'SLIPWAY_ADMIN_PASSWORD',
          'SLIPWAY_ENCRYPTION_KEYS',
          'SLIPWAY_JWT_KEYS',
        ]),
        SLIPWAY_PORT: ports.gateway,
        SLIPWAY_HOST: gatewayHost,
        SLIPWAY_LOG_STREAM_URL: at(ports.logStream),
        // The suite speaks plain HTTP on this machine, where a browser would drop a Secure cookie.
        SLIPWAY_COOKIE_SECURE: process.env.SLIPWAY_COOKIE_SECURE || 'false',
        ...(ports.oidc === undefined ? {} : oidcSettings(at(ports.gateway))),
      },
    },
    { name: 'planner', listens: [], env: { ...serversOf('planner'), ...pick(settings, ['SLIPWAY_ENCRYPTION_KEYS']) } },
    {
      name: 'dispatcher',
      listens: [],
      env: { ...serversOf('dispatcher'), ...pick(settings, ['SLIPWAY_ENCRYPTION_KEYS']) },
    },
    {
      name: 'executor-bridge',
      listens: [listener(ports.bridge, 'SLIPWAY_BRIDGE_PORT')],
      env: {
        ...serversOf('executor-bridge'),
        ...redisOf('executor-bridge'),
        ...pick(settings, ['SLIPWAY_ENCRYPTION_KEYS']),
        SLIPWAY_BRIDGE_PORT: ports.bridge,
        SLIPWAY_BRIDGE_HOST: LOOPBACK,
      },
    },
    {
      name: 'log-stream',
      listens: [listener(ports.logStream, 'SLIPWAY_LOG_STREAM_PORT')],
      env: {
        ...serversOf('log-stream'),
        ...redisOf('log-stream'),
        ...pick(settings, ['SLIPWAY_ENCRYPTION_KEYS']),
        SLIPWAY_LOG_STREAM_PORT: ports.logStream,
        SLIPWAY_LOG_STREAM_HOST: LOOPBACK,
      },
    },
    {
      name: 'orchestration-instance',
      listens: [],
      env: {
        SLIPWAY_JOIN_TOKEN_FILE: process.env.SLIPWAY_JOIN_TOKEN_FILE || joinTokenFile,
        SLIPWAY_INSTANCE_NAME: process.env.SLIPWAY_INSTANCE_NAME || 'local',
        SLIPWAY_INSTANCE_CAPACITY: process.env.SLIPWAY_INSTANCE_CAPACITY || '10',
        SLIPWAY_BRIDGE_URL: at(ports.bridge),
        SLIPWAY_JOURNAL_DIR: process.env.SLIPWAY_JOURNAL_DIR || path.join(stateDir, 'journal'),
        ...local,
      },
    },
  ]

  const inherited = { ...process.env }
  for (const name of [...SECRETS, ...FOREIGN]) delete inherited[name]
  for (const name of Object.keys(inherited)) if (SERVERS.test(name)) delete inherited[name]
  const suite = table.map((service, index) => {
    const management = ports.management + index
    const common = {
      SLIPWAY_MANAGEMENT_PORT: management,
      SLIPWAY_NAMESPACE: process.env.SLIPWAY_NAMESPACE || 'slipway',
      SLIPWAY_LOG_LEVEL: process.env.SLIPWAY_LOG_LEVEL || 'info',
      // The servers of scripts/infra.sh have passwords that everybody knows.
      SLIPWAY_DEVELOPMENT: process.env.SLIPWAY_DEVELOPMENT || 'true',
      // For receivers of webhooks on this machine, which nobody else reaches.
      SLIPWAY_WEBHOOK_ALLOW_PRIVATE: process.env.SLIPWAY_WEBHOOK_ALLOW_PRIVATE || String(gatewayHost === LOOPBACK),
    }
    const env = { ...inherited, ...common, ...service.env }
    return {
      ...service,
      main: path.join(root, 'services', service.name, 'dist/bundle.js'),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
      url: service.listens[0] ? at(service.listens[0].port) : null,
      management: at(management),
      listens: [...service.listens, listener(management, 'SLIPWAY_MANAGEMENT_PORT')],
    }
  })
  if (ports.oidc === undefined) return suite
  const provider = oidcService(ports.oidc)
  return [...suite, { ...provider, env: { ...inherited, ...provider.env } }]
}
