import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { BROKER_USERS } from '@slipway/broker'
import { DATABASE_ROLES } from '@slipway/database'
import { ConfigurationError, loadConfig, refuseDevelopmentSecrets, serviceUrls } from '@slipway/runtime'
import { REDIS_USERS } from '@slipway/runtime/redis'
import { repositoryRoot } from '@slipway/testing'
import { parse } from 'yaml'
import { type Schema, SERVICES, schemaOf } from './services.ts'

interface ComposeService {
  image: string
  build?: { dockerfile: string; target?: string; args?: { SERVICE?: string } }
  profiles?: string[]
  restart: string
  deploy?: { replicas: number }
  environment: Record<string, string | number>
  command?: string[]
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
  stop_grace_period?: string
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
}

const read = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8')
/** The file with the defaults of all variables. */
const composeFile = read('docker-compose.yml').replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
const compose: { services: Record<string, ComposeService>; volumes: Record<string, null> } = parse(composeFile, {
  merge: true,
})
const all = Object.entries(compose.services)
const ours = all.filter(([, { profiles }]) => profiles?.includes('suite'))
const built = ours.filter(([, { build, command }]) => build?.args?.SERVICE !== undefined && command === undefined)

/** Agents run on targets, each with its own token. */
const ELSEWHERE = ['target-agent']
const HERE = SERVICES.filter((name) => !ELSEWHERE.includes(name))

/** The variables that hold a development secret. */
function developmentSecretsOf(schema: Schema, given: Record<string, string>): string[] {
  try {
    refuseDevelopmentSecrets(schema, loadConfig(schema, given))
    return []
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return error.problems.map(({ variable }) => variable).sort()
  }
}

const replicasOf = (name: string) =>
  built
    .filter(([, { build }]) => build?.args?.SERVICE === name)
    .reduce((sum, [, { deploy }]) => sum + (deploy?.replicas ?? 1), 0)

test.each(HERE)('there are two of %s', (service) => {
  expect(replicasOf(service)).toBe(2)
})

/** The volume that a service has at a path. */
const volumeAt = ({ volumes = [] }: ComposeService, place: string) =>
  volumes.map((volume) => volume.split(':')).find(([, target]) => target === place)?.[0]

test('each instance has its own name and its own journal', () => {
  const instances = built.filter(([, { build }]) => build?.args?.SERVICE === 'orchestration-instance')
  expect(instances.map(([, { deploy }]) => deploy)).toEqual([undefined, undefined])
  expect(new Set(instances.map(([, { environment }]) => environment['SLIPWAY_INSTANCE_NAME'])).size).toBe(2)
  const volumes = instances.flatMap(([, service]) => volumeAt(service, '/var/lib/slipway') ?? [])
  expect(new Set(volumes).size).toBe(2)
  expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(volumes))
})

test('both instances join with one token, which they can only read', () => {
  const { command = [], volumes = [], build } = compose.services['join-token'] ?? {}
  expect(command).toContain('dist/administration/join-token.js')
  expect(fs.existsSync(path.join(repositoryRoot, 'services', String(build?.args?.SERVICE), String(command[1])))).toBe(
    true,
  )
  const [file = ''] = command.slice(-1)
  const [volume, folder] = volumes[0]?.split(':') ?? []
  expect(path.dirname(file)).toBe(folder)
  for (const name of ['orchestration-instance-1', 'orchestration-instance-2']) {
    const { environment = {}, volumes: mounted } = compose.services[name] ?? {}
    const read = path.parse(String(environment['SLIPWAY_JOIN_TOKEN_FILE']))
    expect(read.base).toBe(path.basename(file))
    expect(mounted).toContain(`${volume}:${read.dir}:ro`)
  }
})

describe.each(built)('%s', (name, { build, environment }) => {
  test('gets all required variables, and only variables that it reads', async () => {
    const schema = await schemaOf(String(build?.args?.SERVICE))
    const given = Object.fromEntries(
      Object.entries(environment).map(([variable, value]) => [variable, String(value ?? '')]),
    )
    expect(() => loadConfig(schema, given)).not.toThrow()
    expect(Object.keys(given).filter((variable) => !(variable in schema.properties))).toEqual([])
  })

  test('has only development secrets, which need SLIPWAY_DEVELOPMENT in production', async () => {
    const schema = await schemaOf(String(build?.args?.SERVICE))
    const given = Object.fromEntries(
      Object.entries(environment).map(([variable, value]) => [variable, String(value ?? '')]),
    )
    expect(given['SLIPWAY_DEVELOPMENT']).toBe('true')
    const secrets = Object.keys(given).filter(
      (variable) =>
        schema.properties[variable]?.['writeOnly'] && !/^https?:/.test(given[variable] ?? '') && given[variable],
    )
    // Instances have no secret in variables: they read their join token from a file.
    expect(secrets.length > 0).toBe(build?.args?.SERVICE !== 'orchestration-instance')
    expect(developmentSecretsOf(schema, given)).toEqual(secrets.sort())
  })

  test('calls other services at the ports on which they listen', () => {
    for (const [variable, value] of Object.entries(environment)) {
      if (!/^https?:/.test(String(value))) continue
      const { hostname, port } = new URL(String(value))
      const ports = Object.entries(compose.services[hostname]?.environment ?? {})
        .filter(([other]) => other.endsWith('_PORT'))
        .map(([, number]) => String(number))
      expect({ name, variable, ports }).toEqual({ name, variable, ports: expect.arrayContaining([port]) })
    }
  })
})

test.each(ours)('%s has a read-only image, no privileges, and a grace period longer than its drain', (_, service) => {
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  const drain = Number(service.environment?.['SLIPWAY_DRAIN_SECONDS'] ?? 0)
  if (service.build) expect(Number(service.stop_grace_period?.replace('s', ''))).toBeGreaterThan(drain + 20)
})

test('the images are those that `make images` builds, with this version', () => {
  const { version } = JSON.parse(read('package.json'))
  for (const [name, { build, image }] of ours) {
    if (build)
      expect({ name, image }).toEqual({ name, image: `slipway/${build.args?.SERVICE ?? build.target}:${version}` })
  }
})

test('images of others are pinned by digest', () => {
  const others = all.filter(([, { build }]) => build === undefined)
  expect(others.map(([name]) => name).sort()).toEqual(['balancer', 'postgres', 'rabbitmq', 'redis'])
  for (const [, { image }] of others) expect(image).toMatch(/^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
})

test('services depend only on services that exist', () => {
  for (const [, { depends_on = {} }] of all) {
    for (const name of Object.keys(depends_on)) expect(Object.keys(compose.services)).toContain(name)
  }
})

describe('the certificate of the bridge', () => {
  const service = (name: string) => compose.services[name] as ComposeService
  const certificates = service('certificates')
  const instances = ours.filter(([name]) => name.startsWith('orchestration-instance'))

  test('is for the host in the URL of the instances, and made before the bridge starts', () => {
    const [, folder, ...names] = certificates.command ?? []
    expect(folder).toBe('/etc/slipway')
    for (const [, { environment }] of instances) {
      const { protocol, hostname } = new URL(String(environment['SLIPWAY_BRIDGE_URL']))
      expect({ protocol, names }).toEqual({ protocol: 'https:', names: [hostname] })
    }
    expect(service('executor-bridge').depends_on?.['certificates']).toEqual({
      condition: 'service_completed_successfully',
    })
    expect(service('executor-bridge').environment['SLIPWAY_BRIDGE_PLAIN']).toBeUndefined()
  })

  test('has a key that only the bridge can read, and the key of the CA is in a volume of no service', () => {
    const having = (place: string) => {
      const volume = volumeAt(certificates, place)
      expect(Object.keys(compose.volumes)).toContain(volume)
      return all
        .filter(([, { volumes }]) => volumes?.some((each) => each.startsWith(`${volume}:`)))
        .map(([name]) => name)
    }
    expect(having('/etc/slipway/authority')).toEqual(['certificates'])
    expect(having('/etc/slipway/tls')).toEqual(['certificates', 'executor-bridge'])
    expect(having('/etc/slipway/trust')).toEqual(['certificates', ...instances.map(([name]) => name)])
  })

  test('is at the paths of the settings', () => {
    const { environment } = service('executor-bridge')
    expect(environment).toMatchObject({
      SLIPWAY_BRIDGE_TLS_CERT_FILE: '/etc/slipway/tls/tls.crt',
      SLIPWAY_BRIDGE_TLS_KEY_FILE: '/etc/slipway/tls/tls.key',
    })
    for (const [, instance] of instances)
      expect(instance.environment['SLIPWAY_BRIDGE_CA_FILE']).toBe('/etc/slipway/trust/ca.crt')
  })
})

test('each service logs in to Postgres with its own role, which the service `roles` creates', () => {
  const { environment = {}, command } = compose.services['roles'] ?? {}
  expect(command).toEqual(['node', 'packages/database/dist/roles/command.js', 'create'])
  const created = serviceUrls(
    'DATABASE_URL',
    DATABASE_ROLES,
    Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)])),
  )
  expect([...created.keys()]).toEqual([...DATABASE_ROLES])
  for (const [role, url] of created) {
    for (const [, { environment: given }] of built.filter(([, { build }]) => build?.args?.SERVICE === role)) {
      expect(given['DATABASE_URL']).toBe(url.href)
    }
  }
  expect(new URL(String(compose.services['migrate']?.environment['DATABASE_URL'])).username).toBe('slipway')
})

test('each service logs in to RabbitMQ with its own user, which the service `broker-users` creates', () => {
  const { environment = {}, command } = compose.services['broker-users'] ?? {}
  expect(command).toEqual(['node', 'node_modules/@slipway/broker/dist/users/command.js', 'create'])
  const created = serviceUrls(
    'RABBITMQ_URL',
    BROKER_USERS,
    Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)])),
  )
  expect([...created.keys()]).toEqual([...BROKER_USERS])
  for (const [user, url] of created) {
    const given = compose.services[user]?.environment['RABBITMQ_URL']
    expect(new URL(String(given)).href).toBe(url.href)
  }
})

test('each service logs in to Redis with its own user, which the service `redis-users` creates', () => {
  const { environment = {}, command } = compose.services['redis-users'] ?? {}
  expect(command).toEqual(['node', 'node_modules/@slipway/runtime/dist/redis/users/command.js', 'create'])
  const created = serviceUrls(
    'REDIS_URL',
    REDIS_USERS,
    Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, String(value)])),
  )
  const given = built.flatMap(([name, { environment }]) =>
    environment['REDIS_URL'] === undefined ? [] : [[name, environment['REDIS_URL']]],
  )
  expect(Object.fromEntries(given)).toEqual(Object.fromEntries([...created].map(([user, { href }]) => [user, href])))
  expect([...created.keys()]).toEqual([...REDIS_USERS])
})

test('the balancer uses the ports of the services and their management port for health checks', () => {
  const balancer = read('deploy/haproxy.cfg')
  const servers = [...balancer.matchAll(/^ {2}server-template \S+ \d+ ([\w-]+):(\d+)$/gm)]
  expect(servers.map(([, name]) => name).sort()).toEqual(['gateway', 'log-stream'])
  const asked = Number(/ check port (\d+) /.exec(balancer)?.[1])
  for (const [, name = '', port] of servers) {
    const { environment } = compose.services[name] as ComposeService
    expect(Object.values(environment)).toContain(Number(port))
    expect(environment).toMatchObject({ SLIPWAY_MANAGEMENT_PORT: asked, SLIPWAY_MANAGEMENT_HOST: '0.0.0.0' })
  }
})
