import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parser } from '@prometheus-io/lezer-promql'
import { BROKER_USERS } from '@slipway/broker'
import { DATABASE_ROLES } from '@slipway/database'
import { REDIS_USERS } from '@slipway/redis'
import { isDevelopmentSecret, SLIPWAY_VERSION, serviceUser } from '@slipway/runtime'
import { repositoryRoot, SERVICES } from '@slipway/testing'
import { parse } from 'yaml'
import {
  kustomize,
  kustomizeWith,
  type Manifest,
  OVERLAYS,
  ofKind,
  overlayFolder,
  parseManifests,
  services,
  templateOf,
} from './manifests.ts'
import { type End, reaches } from './network.ts'
import { settingsOf, violations } from './policies.ts'
import { misfits } from './schemas.ts'

const rendered = Object.fromEntries(
  OVERLAYS.map((overlay) => [overlay, parseManifests(kustomize(overlayFolder(overlay)))]),
) as Record<string, Manifest[]>
const of = (overlay: string) => rendered[overlay] ?? []

test('the example overlay on the page changes the images and the host', () => {
  const page = fs.readFileSync(path.join(repositoryRoot, 'docs/kubernetes.md'), 'utf8')
  const [, example = ''] = /^ {3}```yaml\n( {3}# slipway\/kustomization\.yaml[\s\S]*?)^ {3}```/m.exec(page) ?? []
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-overlay-'))
  fs.mkdirSync(path.join(folder, 'slipway'))
  fs.symlinkSync(repositoryRoot, path.join(folder, 'slipway-release'))
  fs.writeFileSync(path.join(folder, 'slipway/kustomization.yaml'), example)
  const manifests = parseManifests(kustomize(path.join(folder, 'slipway')))
  fs.rmSync(folder, { recursive: true })
  const image = ({ spec }: Manifest) => spec?.template?.spec.containers[0]?.image
  expect(services(manifests).map(image)).toContain(`registry.mine/slipway/gateway:${SLIPWAY_VERSION}`)
  for (const { metadata, spec } of ofKind(manifests, 'Ingress').filter(({ metadata }) => metadata.name !== 'agents')) {
    expect([metadata.name, spec?.rules?.[0]?.host, spec?.tls?.[0]?.hosts]).toEqual([
      metadata.name,
      'slipway.mine',
      ['slipway.mine'],
    ])
  }
  expect(violations(manifests)).toEqual([])
})

test('the example pool on the page has instances that reach the bridge and ssh targets', () => {
  const page = fs.readFileSync(path.join(repositoryRoot, 'docs/kubernetes.md'), 'utf8')
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-overlay-'))
  fs.symlinkSync(repositoryRoot, path.join(folder, 'slipway-release'))
  for (const [, file = '', text = ''] of page.matchAll(/^```yaml\n# (slipway\/.*)\n([\s\S]*?)^```/gm)) {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), text)
  }
  const manifests = parseManifests(kustomize(path.join(folder, 'slipway')))
  fs.rmSync(folder, { recursive: true })
  expect(violations(manifests)).toEqual([])
  expect(misfits(manifests)).toEqual([])
  expect(
    services(manifests)
      .map(({ metadata }) => metadata.name)
      .sort(),
  ).toEqual([...SERVICES, 'orchestration-instance-zone-a'].sort())

  const [first, copy] = ['orchestration-instance', 'orchestration-instance-zone-a'].map(
    (name) => services(manifests).find(({ metadata }) => metadata.name === name)?.spec?.template,
  )
  const { containers = [], ...pod } = copy?.spec ?? {}
  const { env = [], ...container } = containers[0] ?? {}
  const labels = { name: 'SLIPWAY_INSTANCE_LABELS', value: 'zone=a' }
  // The pool differs from the first instances only in its labels.
  expect(env).toEqual([...(first?.spec.containers[0]?.env ?? []), labels])
  expect(first?.spec).toMatchObject({ ...pod, topologySpreadConstraints: expect.anything(), containers: [container] })
  const bridge = services(manifests).find(({ metadata }) => metadata.name === 'executor-bridge')
  expect(settingsOf(manifests, bridge?.spec?.template?.spec ?? { containers: [] })).toMatchObject({
    SLIPWAY_KUBERNETES_LABELS: 'zone=a',
  })

  const end = (labels = {}): End => ({ namespace: 'slipway', labels })
  const from = end(copy?.metadata.labels)
  expect(reaches(manifests, from, end(bridge?.spec?.template?.metadata.labels), 8082)).toBe(true)
  expect(reaches(manifests, from, { address: '203.0.113.7' }, 22)).toBe(true)
  const gateway = services(manifests).find(({ metadata }) => metadata.name === 'gateway')
  expect(reaches(manifests, from, end(gateway?.spec?.template?.metadata.labels), 8080)).toBe(false)
})

test('the patches for backups on the page change the overlay production', () => {
  const page = fs.readFileSync(path.join(repositoryRoot, 'docs/kubernetes.md'), 'utf8')
  const blocks = [...page.matchAll(/^```yaml\n(patches:[\s\S]*?)^```/gm)].map(([, patches]) => patches)
  expect(blocks).toHaveLength(2)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-overlay-'))
  fs.symlinkSync(repositoryRoot, path.join(folder, 'slipway-release'))
  fs.mkdirSync(path.join(folder, 'slipway'))
  const resources = 'resources: [../slipway-release/deploy/kubernetes/overlays/production]'
  const patched = blocks.flatMap((patches) => {
    fs.writeFileSync(path.join(folder, 'slipway/kustomization.yaml'), `${resources}\n${patches}`)
    const manifests = parseManifests(kustomize(path.join(folder, 'slipway')))
    expect(violations(manifests)).toEqual([])
    return ofKind(manifests, 'Cluster', 'ObjectStore')
  })
  fs.rmSync(folder, { recursive: true })
  expect(misfits(patched)).toEqual([])
  expect(JSON.stringify(patched)).toMatch(/s3:\/\/backups-of-mine\/.*"serverName":"postgres-2"/s)
})

test.each(OVERLAYS)('%s keeps the order of migration and services after a plain kubectl apply -k', (overlay) => {
  // tests/faults/absent-servers.test.ts proves that services wait for the migrations of their version.
  for (const { metadata, spec } of ofKind(of(overlay), 'Deployment').filter((each) => services([each]).length > 0)) {
    const { startupProbe, rollout } = {
      startupProbe: spec?.template?.spec.containers[0]?.startupProbe,
      rollout: spec?.strategy?.rollingUpdate,
    }
    expect({ name: metadata.name, startupProbe, rollout }).toMatchObject({
      startupProbe: { httpGet: { path: '/readyz' } },
      rollout: { maxUnavailable: 0 },
    })
  }
  // A Job cannot be changed: an old Job would refuse the image of the next release.
  for (const { spec } of ofKind(of(overlay), 'Job')) expect(spec?.ttlSecondsAfterFinished).toBe(3600)
})

test.each(['production', 'external-services'])('%s trusts no proxy by default', (overlay) => {
  const pods = services(of(overlay)).filter(({ metadata }) => ['gateway', 'log-stream'].includes(metadata.name))
  const trusted = pods.map(({ spec }) => {
    const settings = settingsOf(of(overlay), spec?.template?.spec ?? { containers: [] })
    return settings['SLIPWAY_TRUSTED_PROXIES']
  })
  expect(trusted).toEqual(['', ''])
})

test('production backs Postgres up every night and makes the first backup at once', () => {
  const [schedule] = ofKind(of('production'), 'ScheduledBackup')
  expect(schedule?.spec).toMatchObject({ schedule: '0 30 2 * * *', immediate: true, method: 'plugin' })
})

describe('roles of Postgres', () => {
  const addressOf = (overlay: string, name: string) => {
    const workload = of(overlay).find(({ kind, metadata }) => /Deployment|Job/.test(kind) && metadata.name === name)
    const { env = [] } = workload?.spec?.template?.spec.containers[0] ?? {}
    return env.find((variable) => variable.name === 'DATABASE_URL')?.valueFrom?.secretKeyRef
  }
  const CONNECTING = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream']

  test.each(OVERLAYS)('each service has its own database user, and only migrations use the owner: %s', (overlay) => {
    for (const name of CONNECTING) {
      // The development overlay's names end with a hash of the values.
      expect(addressOf(overlay, name)?.name).toMatch(new RegExp(`^slipway-database-${name}(-[a-z0-9]{10})?$`))
    }
    expect(addressOf(overlay, 'migrate')?.name).toMatch(/^(slipway-servers|postgres-app)/)
  })

  test('are created in the overlays with Postgres', () => {
    const expected = DATABASE_ROLES.map((role) => serviceUser(role))
    const script = ofKind(of('development'), 'ConfigMap')
      .flatMap(({ data = {} }) => data['role.sh'] ?? [])
      .join()
    expect([...script.matchAll(/CREATE ROLE (slipway_\w+) LOGIN PASSWORD/g)].map(([, name]) => name)).toEqual(expected)
    const cluster = fs.readFileSync(path.join(overlayFolder('production'), 'postgres.yaml'), 'utf8')
    expect(parse(cluster).spec.managed.roles).toEqual(
      DATABASE_ROLES.map((role) => ({
        name: serviceUser(role),
        login: true,
        passwordSecret: { name: `slipway-database-${role}` },
      })),
    )
  })
})

test.each(OVERLAYS)('each service has its own user of RabbitMQ, which a job creates: %s', (overlay) => {
  const secretsOf = (manifest: Manifest | undefined) =>
    (templateOf(manifest as Manifest)?.spec.containers[0]?.env ?? [])
      .filter(({ name }) => name.startsWith('RABBITMQ_URL'))
      .map(({ valueFrom }) => valueFrom?.secretKeyRef?.name)
  const byName = (manifests: Manifest[], name: string) => manifests.find(({ metadata }) => metadata.name === name)
  const given = BROKER_USERS.flatMap((user) => secretsOf(byName(services(of(overlay)), user)))
  // The development overlay's names end with a hash of the values.
  const expected = BROKER_USERS.map((user) =>
    expect.stringMatching(new RegExp(`^slipway-rabbitmq-${user}(-[a-z0-9]{10})?$`)),
  )
  expect(given).toEqual(expected)
  if (overlay === 'external-services') return
  expect(secretsOf(byName(ofKind(of(overlay), 'Job'), 'broker-users'))).toEqual(given)
})

test.each(OVERLAYS)('each service has its own address of Redis: %s', (overlay) => {
  const given = services(of(overlay)).flatMap(({ metadata, spec }) =>
    (spec?.template?.spec.containers[0]?.env ?? [])
      .filter(({ name }) => name === 'REDIS_URL')
      .map(({ valueFrom }) => [metadata.name, valueFrom?.secretKeyRef?.name]),
  )
  const expected = REDIS_USERS.map((user) => [
    user,
    // The development overlay's names end with a hash of the values.
    expect.stringMatching(new RegExp(`^slipway-redis-${user}(-[a-z0-9]{10})?$`)),
  ])
  expect(Object.fromEntries(given)).toEqual(Object.fromEntries(expected))
})

describe('development secrets', () => {
  test.each(OVERLAYS)('are accepted only in the overlay development: %s', (overlay) => {
    const gateway = services(of(overlay)).find(({ metadata }) => metadata.name === 'gateway')
    const settings = settingsOf(of(overlay), gateway?.spec?.template?.spec ?? { containers: [] })
    expect(settings['SLIPWAY_DEVELOPMENT']).toBe(overlay === 'development' ? 'true' : undefined)
  })

  test('are all refused without SLIPWAY_DEVELOPMENT', () => {
    const secrets = ofKind(of('development'), 'Secret').flatMap(({ data }) => Object.entries(data ?? {}))
    expect(secrets.length).toBeGreaterThan(5)
    for (const [key, value] of secrets.filter(([key]) => key !== 'username')) {
      const known = isDevelopmentSecret(Buffer.from(value, 'base64').toString())
      expect({ key, known }).toEqual({ key, known: true })
    }
  })
})

describe('the network', () => {
  const manifests = of('production')
  const pod = (name: string): End => ({
    namespace: 'slipway',
    labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'slipway' },
  })
  const elsewhere = (namespace: string): End => ({ namespace, labels: {} })
  const ends: Record<string, End> = {
    ...Object.fromEntries([...SERVICES, 'migrate', 'broker-users'].map((name) => [name, pod(name)])),
    postgres: { namespace: 'slipway', labels: { 'cnpg.io/cluster': 'postgres' } },
    rabbitmq: { namespace: 'slipway', labels: { 'app.kubernetes.io/name': 'rabbitmq' } },
    redis: { namespace: 'slipway', labels: { app: 'redis', redis_setup_type: 'replication' } },
    sentinel: { namespace: 'slipway', labels: { app: 'redis-s', redis_setup_type: 'sentinel' } },
    'ingress controller': elsewhere('ingress-nginx'),
    prometheus: elsewhere('monitoring'),
    'postgres operator': elsewhere('cnpg-system'),
    'rabbitmq operator': elsewhere('rabbitmq-system'),
    'redis operator': elsewhere('redis-operator'),
    'name server': elsewhere('kube-system'),
    'any other pod': elsewhere('default'),
    target: { address: '203.0.113.7' },
    'private target': { address: '10.9.8.7' },
    'metadata of the cloud': { address: '169.254.169.254' },
  }
  const PORTS = [
    22, 53, 80, 443, 5432, 5672, 6379, 8000, 8080, 8081, 8082, 8090, 8474, 9187, 15672, 15692, 25672, 26379,
  ]

  const DATABASE = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream', 'migrate']
  const BROKER = DATABASE.filter((name) => name !== 'migrate')
  const CACHE = ['gateway', 'executor-bridge', 'log-stream']
  const OURS = Object.keys(ends).filter(
    (name) => 'namespace' in (ends[name] ?? {}) && (ends[name] as { namespace: string }).namespace === 'slipway',
  )
  const wanted = [
    ...OURS.map((name) => `${name} → name server:53`),
    'ingress controller → gateway:8080',
    'ingress controller → log-stream:8081',
    'ingress controller → executor-bridge:8082',
    'gateway → log-stream:8081',
    'orchestration-instance → executor-bridge:8082',
    ...DATABASE.map((name) => `${name} → postgres:5432`),
    ...BROKER.map((name) => `${name} → rabbitmq:5672`),
    ...CACHE.map((name) => `${name} → redis:6379`),
    'broker-users → rabbitmq:15672',
    ...[...SERVICES, 'migrate', 'broker-users'].map((name) => `prometheus → ${name}:8090`),
    'prometheus → postgres:9187',
    'prometheus → rabbitmq:15692',
    'postgres → postgres:5432',
    'postgres → postgres:8000',
    'postgres operator → postgres:5432',
    'postgres operator → postgres:8000',
    'rabbitmq → rabbitmq:25672',
    'rabbitmq operator → rabbitmq:15672',
    ...['redis', 'sentinel', 'redis operator'].flatMap((from) =>
      ['redis', 'sentinel'].flatMap((to) => [`${from} → ${to}:6379`, `${from} → ${to}:26379`]),
    ),
    // Webhooks may call only public addresses.
    ...PORTS.map((port) => `dispatcher → target:${port}`),
    // The API server, and the store of backups.
    ...['postgres', 'rabbitmq', 'executor-bridge'].map((name) => `${name} → *:443`),
    ...[22, 8474].map((port) => `orchestration-instance → *:${port}`),
  ]

  test.each([
    [
      'development',
      ['postgres', 'rabbitmq', 'redis'].map(
        (name): End => ({
          namespace: 'slipway-development',
          labels: { 'app.kubernetes.io/name': name },
        }),
      ),
    ],
    ['external-services', [1, 2, 3].map((last): End => ({ address: `10.1.2.${last}` }))],
  ] as const)('lets only the services that need them reach the servers of %s', (overlay, servers) => {
    const namespace = of(overlay)[0]?.metadata.name ?? ''
    const open = [...SERVICES, 'migrate'].flatMap((name) => {
      const from = { namespace, labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/part-of': 'slipway' } }
      return servers.flatMap((server, index) =>
        reaches(of(overlay), from, server, [5432, 5672, 6379][index] ?? 0) ? [`${name} ${index}`] : [],
      )
    })
    const expected = [DATABASE, BROKER, CACHE].flatMap((clients, index) => clients.map((name) => `${name} ${index}`))
    expect(open.sort()).toEqual(expected.sort())
  })

  test('lets the job for certificates reach the API server, and no service of Slipway', () => {
    const overlay = of('external-services')
    const job = pod('certificates')
    const open = (to: End) => [...PORTS, 6443].filter((port) => reaches(overlay, job, to, port))
    expect(open({ address: '10.96.0.1' })).toEqual([443, 6443])
    for (const name of SERVICES) expect({ name, ports: open(pod(name)) }).toEqual({ name, ports: [] })
  })

  test('lets every address reach only the bridge with components/bridge-outside', () => {
    const outside = parseManifests(kustomizeWith('production', ['bridge-outside']))
    expect(violations(outside)).toEqual([])
    const target: End = { address: '203.0.113.7' }
    const open = (overlay: Manifest[]) =>
      SERVICES.flatMap((name) =>
        PORTS.filter((port) => reaches(overlay, target, pod(name), port)).map((port) => `${name}:${port}`),
      )
    expect(open(manifests)).toEqual([])
    expect(open(outside)).toEqual(['executor-bridge:8082'])
  })

  test('allows exactly the required connections', () => {
    const names = Object.keys(ends)
    const open = names.flatMap((from) =>
      names.flatMap((to) =>
        PORTS.filter((port) => {
          const [source, destination] = [ends[from], ends[to]]
          // The policies of Slipway do not apply if both ends are outside of it.
          if (!source || !destination || !(OURS.includes(from) || OURS.includes(to))) return false
          return reaches(manifests, source, destination, port)
        }).map((port) => ({ from, to, port })),
      ),
    )
    const outside = names.filter((name) => !OURS.includes(name))
    const expected = wanted.flatMap((flow) =>
      flow.includes('*') ? outside.map((name) => flow.replace('*', name)) : [flow],
    )
    expect(open.map(({ from, to, port }) => `${from} → ${to}:${port}`).sort()).toEqual(expected.sort())
  })
})

describe('scaling and alerts', () => {
  const manifests = of('production')
  const sources = ['services', 'packages']
    .flatMap((folder) =>
      fs.readdirSync(path.join(repositoryRoot, folder)).map((name) => path.join(repositoryRoot, folder, name, 'src')),
    )
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map((file) => path.join(folder, String(file))))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => fs.readFileSync(file, 'utf8'))
    .join('\n')

  test.each(ofKind(manifests, 'ScaledObject').map((scaler) => [scaler.metadata.name, scaler] as const))(
    '%s is scaled by an existing metric',
    (_name, { metadata, spec }) => {
      const { query = '', threshold, serverAddress } = spec?.triggers?.[0]?.metadata ?? {}
      let wrong = 0
      parser.parse(query).iterate({
        enter(node) {
          if (node.type.isError) wrong++
        },
      })
      expect(wrong).toBe(0)
      const metrics = [...query.matchAll(/\b(slipway_\w+)\{([^}]*)\}/g)]
      expect(metrics.length).toBeGreaterThan(0)
      for (const [, metric = '', labels] of metrics) {
        expect(sources).toMatch(new RegExp(`\\b${metric.replace(/_(count|sum|bucket)$/, '')}\\b`))
        expect(labels).toContain(`namespace="${metadata.namespace}"`)
      }
      expect(Number(threshold)).toBeGreaterThan(0)
      expect(serverAddress).toMatch(/^http:/)
    },
  )

  test('the alerts equal those of deploy/grafana', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/prometheus-rule.mjs', '--check'], {
      cwd: repositoryRoot,
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test('the alerts of a custom overlay link to a given page', () => {
    const output = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-rules-')), 'prometheus-rule.yaml')
    const write = (runbooks: string) =>
      spawnSync(process.execPath, ['scripts/prometheus-rule.mjs', '--runbooks', runbooks, '--output', output], {
        cwd: repositoryRoot,
        encoding: 'utf8',
      })
    expect(write('docs/operations.md').stderr).toContain('is no address of a page')
    expect(fs.existsSync(output)).toBe(false)
    expect(write('https://wiki.mine/operations').status).toBe(0)
    const text = fs.readFileSync(output, 'utf8')
    fs.rmSync(path.dirname(output), { recursive: true })
    const page = fs.readFileSync(path.join(repositoryRoot, 'docs/operations.md'), 'utf8')
    const anchors = [...page.matchAll(/^### (Slipway\w+)$/gm)].map(([, name]) => name?.toLowerCase())
    const links = [...text.matchAll(/runbook_url: (.*)$/gm)].map(([, link]) => link)
    expect(links).toEqual(anchors.map((anchor) => `https://wiki.mine/operations#${anchor}`))
  })
})
