import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parser } from '@prometheus-io/lezer-promql'
import { BROKER_USERS } from '@slipway/broker'
import { DATABASE_ROLES } from '@slipway/database'
import { isDevelopmentSecret, loadConfig, serviceConfig, serviceUser } from '@slipway/runtime'
import { repositoryRoot, SERVICES } from '@slipway/testing'
import { parse } from 'yaml'
import {
  kustomize,
  type Manifest,
  OVERLAYS,
  ofKind,
  overlayFolder,
  type PodSpec,
  parseManifests,
  services,
  templateOf,
} from './manifests.ts'
import { type End, reaches } from './network.ts'
import { settingsOf, violations } from './policies.ts'
import { invalid, misfits } from './schemas.ts'

type Schema = Parameters<typeof serviceConfig>[0]

const rendered = Object.fromEntries(
  OVERLAYS.map((overlay) => [overlay, parseManifests(kustomize(overlayFolder(overlay)))]),
) as Record<string, Manifest[]>
const of = (overlay: string) => rendered[overlay] ?? []

test('all overlays have the fields that Kubernetes and the operators know', () => {
  expect(misfits(OVERLAYS.flatMap(of))).toEqual([])
})

test('an overlay of your own, as the page shows it, changes what it says', () => {
  const page = fs.readFileSync(path.join(repositoryRoot, 'docs/kubernetes.md'), 'utf8')
  const [, example = ''] = /^ {3}```yaml\n([\s\S]*?)^ {3}```/m.exec(page) ?? []
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-overlay-'))
  fs.mkdirSync(path.join(folder, 'slipway'))
  fs.symlinkSync(repositoryRoot, path.join(folder, 'slipway-release'))
  fs.writeFileSync(path.join(folder, 'slipway/kustomization.yaml'), example)
  const manifests = parseManifests(kustomize(path.join(folder, 'slipway')))
  fs.rmSync(folder, { recursive: true })
  const image = ({ spec }: Manifest) => spec?.template?.spec.containers[0]?.image
  expect(services(manifests).map(image)).toContain('registry.mine/slipway/gateway:0.1.0')
  for (const { metadata, spec } of ofKind(manifests, 'Ingress').filter(({ metadata }) => metadata.name !== 'agents')) {
    expect([metadata.name, spec?.rules?.[0]?.host, spec?.tls?.[0]?.hosts]).toEqual([
      metadata.name,
      'slipway.mine',
      ['slipway.mine'],
    ])
  }
  expect(violations(manifests)).toEqual([])
})

test('the patches for backups that the page shows change the overlay production', () => {
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

describe.each(OVERLAYS)('%s', (overlay) => {
  const manifests = of(overlay)

  test('has every service once, and what it needs', () => {
    expect(
      services(manifests)
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual([...SERVICES].sort())
    const jobs = {
      development: ['broker-users', 'certificates', 'migrate'],
      production: ['broker-users', 'migrate'],
      'external-services': ['certificates', 'migrate'],
    }[overlay]
    expect(
      ofKind(manifests, 'Job')
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual(jobs)
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace)).size).toBe(2)
  })

  test('has values that the schemas of Kubernetes and the operators allow', async () => {
    expect(await invalid(manifests)).toEqual([])
  })

  test('keeps to the rules for what runs', () => {
    expect(violations(manifests, { published: overlay !== 'development' })).toEqual([])
  })

  test.each(SERVICES)('gives %s a configuration that it starts with', async (name) => {
    const service = services(manifests).find(({ metadata }) => metadata.name === name)
    const pod = service?.spec?.template?.spec ?? { containers: [] }
    const exported: Record<string, Schema> = await import(`../../services/${name}/src/config.ts`)
    const own = Object.values(exported).find((value) => value?.type === 'object' && value.properties)
    const schema = serviceConfig(own as Schema)
    const given: Record<string, string> = settingsOf(manifests, pod)
    for (const { name: variable, value, valueFrom } of pod.containers[0]?.env ?? []) {
      const example = EXAMPLES[variable] ?? schema.properties[variable]?.['examples']?.[0]
      given[variable] = valueFrom ? String(example) : withPodFields(value ?? '', name)
      // What is secret comes from Secrets.
      if (schema.properties[variable]?.['writeOnly'] && value !== undefined) expect(variable).toMatch(/_URL$/)
      if (!NOT_OURS.includes(variable)) expect(schema.properties).toHaveProperty(variable)
    }
    expect(() => loadConfig(schema, given)).not.toThrow()
  })

  test('lets instances join with a service account that no other pod has, and a token for nobody but the bridge', () => {
    const podOf = (name: string) =>
      services(manifests).find(({ metadata }) => metadata.name === name)?.spec?.template?.spec ?? { containers: [] }
    const [instance, bridge] = [podOf('orchestration-instance'), podOf('executor-bridge')]
    const others = services(manifests).filter(({ metadata }) => metadata.name !== 'orchestration-instance')
    expect(others.map(({ spec }) => spec?.template?.spec.serviceAccountName)).not.toContain(instance.serviceAccountName)
    const made = ofKind(manifests, 'ServiceAccount').map(({ metadata }) => metadata.name)
    expect(made).toContain(instance.serviceAccountName)

    const setting = (pod: typeof bridge, variable: string) =>
      pod.containers[0]?.env?.find(({ name }) => name === variable)?.value ?? settingsOf(manifests, pod)[variable]
    expect(setting(bridge, 'SLIPWAY_KUBERNETES_SERVICE_ACCOUNTS')).toBe(
      `$(POD_NAMESPACE)/${instance.serviceAccountName}`,
    )
    expect(setting(bridge, 'SLIPWAY_KUBERNETES_ISSUER')).toMatch(/^https:/)
    /** What a mounted file of a projected token is for; null for the API server. */
    const audienceOf = (pod: typeof bridge, file = '') => {
      const mount = pod.containers[0]?.volumeMounts?.find(({ mountPath }) => mountPath === path.dirname(file))
      const sources = pod.volumes?.find(({ name }) => name === mount?.name)?.projected?.sources ?? []
      const token = sources.find(({ serviceAccountToken }) => serviceAccountToken?.path === path.basename(file))
      return token?.serviceAccountToken && (token.serviceAccountToken.audience ?? null)
    }
    expect(audienceOf(instance, setting(instance, 'SLIPWAY_JOIN_TOKEN_FILE'))).toBe('slipway')
    expect(audienceOf(bridge, setting(bridge, 'SLIPWAY_KUBERNETES_TOKEN_FILE'))).toBeNull()
  })

  test('has settings that some service knows, and no secret among them', () => {
    const known = fs.readFileSync(path.join(repositoryRoot, 'docs/configuration.md'), 'utf8')
    const gateway = services(manifests).find(({ metadata }) => metadata.name === 'gateway')
    const names = Object.keys(settingsOf(manifests, gateway?.spec?.template?.spec ?? { containers: [] }))
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) expect(known).toMatch(new RegExp(`^\\| \`${name}\` `, 'm'))
    expect(names.filter((name) => /KEYS|TOKEN|PASSWORD|DATABASE_URL|RABBITMQ_URL|REDIS_URL/.test(name))).toEqual([])
  })

  test('has a certificate for the host in the URL of the bridge, where the settings say', () => {
    const pod = (name: string) =>
      templateOf(services(manifests).find(({ metadata }) => metadata.name === name) as Manifest)?.spec as PodSpec
    const settings = settingsOf(manifests, pod('executor-bridge'))
    const { protocol, hostname } = new URL(settings['SLIPWAY_BRIDGE_URL'] ?? '')
    const names = [
      ...ofKind(manifests, 'Certificate').flatMap(({ spec }) => spec?.dnsNames ?? []),
      ...ofKind(manifests, 'ConfigMap').flatMap(({ data }) => data?.['names']?.split(' ') ?? []),
    ]
    expect({ protocol, names }).toEqual({ protocol: 'https:', names: [hostname] })
    const mounted = (name: string) =>
      (pod(name).volumes ?? []).flatMap(({ name: volume, secret }) => {
        const mount = pod(name).containers[0]?.volumeMounts?.find((each) => each.name === volume)
        return (secret?.items ?? []).map(({ path }) => `${mount?.mountPath}/${path}`)
      })
    expect(mounted('executor-bridge')).toEqual([
      settings['SLIPWAY_BRIDGE_TLS_CERT_FILE'],
      settings['SLIPWAY_BRIDGE_TLS_KEY_FILE'],
    ])
    // Commands of deployments run there: they do not see the key.
    expect(mounted('orchestration-instance')).toEqual([settings['SLIPWAY_BRIDGE_CA_FILE']])
    const [job, weekly] = ofKind(manifests, 'Job', 'CronJob').filter(({ metadata }) => metadata.name === 'certificates')
    if (job && weekly) expect(templateOf(job)).toEqual(templateOf(weekly))
  })

  test('runs as the user that the images are made for', () => {
    const dockerfile = fs.readFileSync(path.join(repositoryRoot, 'deploy/Dockerfile'), 'utf8')
    const users = [...dockerfile.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)
    const ours = [...services(manifests), ...ofKind(manifests, 'Job', 'CronJob')].map((each) => templateOf(each)?.spec)
    const made = ours.map((pod) => `${pod?.securityContext?.runAsUser}:${pod?.securityContext?.runAsGroup}`)
    expect([...new Set(made)]).toEqual([...new Set(users)])
  })

  test('runs the version of this release', () => {
    const { version } = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'))
    const images = [...services(manifests), ...ofKind(manifests, 'Job', 'CronJob')].map(
      (each) => templateOf(each)?.spec.containers[0]?.image ?? '',
    )
    expect(images.filter((image) => !image.endsWith(`:${version}`))).toEqual([])
  })

  test.each([
    ['/api/v1/sse/deployments', 'log-stream'],
    ['/api/v1/deployments/0190a0f0-0000-7000-8000-000000000000/logs', 'log-stream'],
    ['/api/v1/deployments/0190a0f0-0000-7000-8000-000000000000/logs/history', 'gateway'],
    ['/api/v1/deployments/0190a0f0-0000-7000-8000-000000000000', 'gateway'],
    ['/api/v1/deployments', 'gateway'],
    ['/api/v1/auth/sse-token', 'gateway'],
    ['/docs', 'gateway'],
    ['/', 'gateway'],
  ])('leads %s to %s', (url, service) => {
    const ingresses = ofKind(manifests, 'Ingress').filter(({ metadata }) => ['api', 'streams'].includes(metadata.name))
    // As nginx does it: all paths of a host are patterns then, the longest comes first.
    const paths = ingresses
      .flatMap(({ spec }) => spec?.rules?.[0]?.http.paths ?? [])
      .sort((a, b) => b.path.length - a.path.length)
    expect(paths.find(({ path }) => new RegExp(`^${path}`, 'i').test(url))?.backend.service.name).toBe(service)
    expect(new Set(ingresses.map(({ spec }) => spec?.rules?.[0]?.host)).size).toBe(1)
  })
})

/** Variables of containers that are no settings of Slipway. */
const NOT_OURS = ['NODE_OPTIONS', 'POD_NAMESPACE']
const withPodFields = (value: string, name: string) =>
  value.replaceAll('$(SLIPWAY_INSTANCE_NAME)', `${name}-0`).replaceAll('$(POD_NAMESPACE)', 'slipway')

/** Where a schema has no example that it would take itself. */
const EXAMPLES: Record<string, string> = {
  SLIPWAY_INSTANCE_NAME: 'orchestration-instance-0',
  SLIPWAY_ENCRYPTION_KEYS: `2026-01:${Buffer.alloc(32, 1).toString('base64')}`,
  SLIPWAY_JWT_KEYS: `2026-01:${Buffer.alloc(32, 2).toString('base64')}`,
}

test.each(['production', 'external-services'])('%s trusts no proxy until somebody says which', (overlay) => {
  const pods = services(of(overlay)).filter(({ metadata }) => ['gateway', 'log-stream'].includes(metadata.name))
  const trusted = pods.map(({ spec }) => {
    const settings = settingsOf(of(overlay), spec?.template?.spec ?? { containers: [] })
    return settings['SLIPWAY_TRUSTED_PROXIES']
  })
  expect(trusted).toEqual(['', ''])
})

test('production backs Postgres up every night, and starts with the first backup at once', () => {
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

  test.each(OVERLAYS)('each service has its own address, and the owner is for migrations alone: %s', (overlay) => {
    for (const name of CONNECTING) {
      // The development overlay's names end with a hash of the values.
      expect(addressOf(overlay, name)?.name).toMatch(new RegExp(`^slipway-database-${name}(-[a-z0-9]{10})?$`))
    }
    expect(addressOf(overlay, 'migrate')?.name).toMatch(/^(slipway-servers|postgres-app)/)
  })

  test('are made in the overlays that bring Postgres', () => {
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

describe('secrets that everybody knows', () => {
  test.each(OVERLAYS)('are accepted in the overlay development alone: %s', (overlay) => {
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
    // Webhooks go to public addresses alone.
    ...PORTS.map((port) => `dispatcher → target:${port}`),
    // The API server, and where backups go.
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
  ] as const)('%s reaches its servers as well, and only who has to', (overlay, servers) => {
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

  test('lets the job for certificates reach the API server, and no server of Slipway', () => {
    const overlay = of('external-services')
    const job = pod('certificates')
    const open = (to: End) => [...PORTS, 6443].filter((port) => reaches(overlay, job, to, port))
    expect(open({ address: '10.96.0.1' })).toEqual([443, 6443])
    for (const name of SERVICES) expect({ name, ports: open(pod(name)) }).toEqual({ name, ports: [] })
  })

  test('lets everybody reach the bridge, and nothing else, with components/bridge-outside', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-overlay-'))
    fs.symlinkSync(path.join(repositoryRoot, 'deploy/kubernetes'), path.join(folder, 'slipway'))
    const overlay = path.join(folder, 'overlay')
    fs.mkdirSync(overlay)
    fs.writeFileSync(
      path.join(overlay, 'kustomization.yaml'),
      [
        'namespace: slipway',
        'resources: [../slipway/overlays/production]',
        'components: [../slipway/components/bridge-outside]',
      ].join('\n'),
    )
    const outside = parseManifests(kustomize(overlay))
    fs.rmSync(folder, { recursive: true })
    expect(violations(outside)).toEqual([])
    const target: End = { address: '203.0.113.7' }
    const open = (overlay: Manifest[]) =>
      SERVICES.flatMap((name) =>
        PORTS.filter((port) => reaches(overlay, target, pod(name), port)).map((port) => `${name}:${port}`),
      )
    expect(open(manifests)).toEqual([])
    expect(open(outside)).toEqual(['executor-bridge:8082'])
  })

  test('lets through what is needed, and nothing else', () => {
    const names = Object.keys(ends)
    const open = names.flatMap((from) =>
      names.flatMap((to) =>
        PORTS.filter((port) => {
          const [source, destination] = [ends[from], ends[to]]
          // What is outside on both sides is not ours to judge.
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

describe('what scales and watches', () => {
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
    '%s is scaled by a metric that is measured',
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

  test('the alerts are those of deploy/grafana', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/prometheus-rule.mjs', '--check'], {
      cwd: repositoryRoot,
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
