import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parser } from '@prometheus-io/lezer-promql'
import { BROKER_USERS } from '@slipway/broker'
import { DATABASE_ROLES } from '@slipway/database'
import { serviceUser } from '@slipway/runtime'
import { REDIS_USERS } from '@slipway/runtime/redis'
import { repositoryRoot } from '@slipway/testing'
import { parse } from 'yaml'
import { chartFolder } from '../../scripts/helm.mjs'
import { CHARTS, chartOf, errorsOf, render, valuesFile } from './helm.ts'
import { type Manifest, ofKind, parseManifests, templateOf, workloads } from './manifests.ts'

type Json = Record<string, unknown>

describe('the migration', () => {
  const job = (manifests: Manifest[]) =>
    ofKind(manifests, 'Job').find(({ metadata }) => metadata.name === 'migrate') as Manifest
  const hookOf = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook']

  test('runs before all changes, with an account that exists by then', () => {
    const manifests = chartOf('external-services')
    expect(hookOf(job(manifests))).toBe('pre-install,pre-upgrade')
    const account = ofKind(manifests, 'ServiceAccount').find(
      ({ metadata }) => metadata.name === templateOf(job(manifests))?.spec.serviceAccountName,
    ) as Manifest
    expect(hookOf(account)).toBe('pre-install,pre-upgrade')
    const weight = ({ metadata }: Manifest) => Number(metadata.annotations?.['helm.sh/hook-weight'])
    expect(weight(account)).toBeLessThan(weight(job(manifests)))
  })

  test.each(['production', 'everything'] as const)(
    'is no hook in the first installation with own servers, and runs first in upgrades: %s',
    (chart) => {
      expect(hookOf(job(chartOf(chart)))).toBeUndefined()
      const upgrade = render(valuesFile(chart), '--is-upgrade')
      expect(hookOf(job(upgrade))).toBe('pre-upgrade')
      const users = ofKind(upgrade, 'Job').find(({ metadata }) => metadata.name === 'broker-users') as Manifest
      expect(hookOf(users)).toBe('pre-upgrade')
    },
  )

  test.each(CHARTS)('is awaited by all services, also after a plain kubectl apply: %s', (chart) => {
    // tests/faults/absent-servers.test.ts proves that services wait for the migrations of their version.
    for (const { spec } of ofKind(chartOf(chart), 'Deployment')) {
      const { startupProbe } = spec?.template?.spec.containers[0] ?? {}
      expect(startupProbe).toMatchObject({ httpGet: { path: '/readyz' } })
      expect(spec?.strategy?.rollingUpdate).toMatchObject({ maxUnavailable: 0 })
    }
    // A Job cannot be changed: an old Job would refuse the image of the next release.
    for (const { spec } of ofKind(chartOf(chart), 'Job')) expect(spec?.ttlSecondsAfterFinished).toBe(3600)
  })
})

describe('values', () => {
  test('have the version of this release', () => {
    const { version } = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'))
    const { version: own, appVersion } = parse(fs.readFileSync(path.join(chartFolder, 'Chart.yaml'), 'utf8'))
    expect([own, appVersion]).toEqual([version, version])
  })

  test('all have a description in the schema', () => {
    const schema = JSON.parse(fs.readFileSync(path.join(chartFolder, 'values.schema.json'), 'utf8'))
    const values = parse(fs.readFileSync(path.join(chartFolder, 'values.yaml'), 'utf8'))
    expect(Object.keys(schema.properties).sort()).toEqual(Object.keys(values).sort())
    for (const [name, property] of Object.entries<Json>(schema.properties)) {
      expect([name, property['description']]).toEqual([name, expect.stringMatching(/\.$/)])
    }
  })

  test.each([
    ['imagess.tag=1', 'imagess'],
    ['images.tagg=1', 'tagg'],
    ['autoscaling.by=kedaa', '/autoscaling/by'],
    ['services.gateway.replicas=0', '/services/gateway/replicas'],
    ['services.gateway.resources.limits.cpus=1', 'cpus'],
    ['services.gatway.replicas=2', 'gatway'],
    ['settings.SLIPWAY_JWT_KEYS=x', 'SLIPWAY_JWT_KEYS'],
    ['settings.DATABASE_URL=x', 'DATABASE_URL'],
    ['instances.pools[0].name=a', 'labels'],
    ['instances.pools[0].name=A b,instances.pools[0].labels=zone=a', '/instances/pools/0/name'],
    ['ingress.issuer.name=letsencrypt', 'kind'],
    ['bridge.certificates=private-ca', '/bridge/certificates'],
    ['monitoring.runbooks=docs/operations.md', '/monitoring/runbooks'],
    ['backup.keepDays=0', '/backup/keepDays'],
    ['instances.updateStrategy=Recreate', '/instances/updateStrategy'],
  ])('refuse %s', (value, problem) => {
    const said = errorsOf('template', 'slipway', chartFolder, '--set', value)
    expect(said).toContain("values don't meet the specifications of the schema")
    expect(said).toContain(problem)
  })

  test.each(CHARTS)('pass the linter of Helm: %s', (chart) => {
    expect(errorsOf('lint', '--strict', chartFolder, '--values', valuesFile(chart))).toBe('')
  })

  test('trust no proxy and accept no development secret by default', () => {
    const { data } = ofKind(chartOf('minimal'), 'ConfigMap').find(({ metadata }) => metadata.name === 'slipway') ?? {}
    expect(data).toMatchObject({ SLIPWAY_TRUSTED_PROXIES: '' })
    expect(data).not.toHaveProperty('SLIPWAY_DEVELOPMENT')
  })
})

describe('options', () => {
  const manifests = chartOf('everything')
  const named = (kind: string, name: string) =>
    ofKind(manifests, kind).find(({ metadata }) => metadata.name === name) as Manifest

  test('a pool has instances with its labels, its own scaler, and the permission of the bridge for its labels', () => {
    const claimed = (name: string) =>
      templateOf(named('StatefulSet', name))?.spec.containers[0]?.env?.find(
        (each) => each.name === 'SLIPWAY_INSTANCE_LABELS',
      )?.value
    expect(claimed('orchestration-instance-disks')).toBe('zone=a,disk=ssd')
    expect(claimed('orchestration-instance-zone-a')).toBe('zone=a')
    expect(named('ConfigMap', 'slipway').data?.['SLIPWAY_KUBERNETES_LABELS']).toBe('zone=b,zone=a,disk=ssd')
    const queryOf = (name: string) => named('ScaledObject', name).spec?.triggers?.[0]?.metadata['query']
    expect(queryOf('orchestration-instance-zone-a')).toContain(
      'slipway_pending_requests{namespace="slipway", pool="zone=a"}',
    )
    expect(queryOf('orchestration-instance-disks')).toContain('pool=~"disk=ssd|disk=ssd,zone=a"')
    expect(queryOf('orchestration-instance')).toContain('pool="any"')
  })

  test('every alert links to its section of the page in the values', () => {
    const rules = JSON.stringify(named('PrometheusRule', 'slipway'))
    const links = [...rules.matchAll(/"runbook_url":"([^"]+)"/g)].map(([, link]) => link)
    const page = fs.readFileSync(path.join(repositoryRoot, 'docs/operations.md'), 'utf8')
    const anchors = [...page.matchAll(/^### (Slipway\w+)$/gm)].map(([, name]) => name?.toLowerCase())
    expect(anchors.length).toBeGreaterThan(20)
    expect(links).toEqual(anchors.map((anchor) => `https://wiki.mine/slipway/operations#${anchor}`))
  })
})

test('production backs Postgres up every night and makes the first backup at once', () => {
  const [schedule] = ofKind(chartOf('production'), 'ScheduledBackup')
  expect(schedule?.spec).toMatchObject({ schedule: '0 30 2 * * *', immediate: true, method: 'plugin' })
})

describe.each(['production', 'external-services'] as const)('the users of %s', (chart) => {
  /** The name of the Secret for a variable of a workload. */
  const secretOf = (workload: string, variable: string) =>
    workloads(chartOf(chart))
      .filter(({ metadata }) => metadata.name === workload)
      .flatMap((manifest) => templateOf(manifest)?.spec.containers[0]?.env ?? [])
      .find(({ name }) => name === variable)?.valueFrom?.secretKeyRef?.name

  test('each service has its own database user, and only migrations use the owner', () => {
    for (const name of BROKER_USERS) expect(secretOf(name, 'DATABASE_URL')).toBe(`slipway-database-${name}`)
    expect(secretOf('migrate', 'DATABASE_URL')).toBe(chart === 'production' ? 'postgres-app' : 'slipway-servers')
  })

  test('each service has its own user of RabbitMQ, which a job creates if RabbitMQ is part of the release', () => {
    for (const name of BROKER_USERS) {
      expect(secretOf(name, 'RABBITMQ_URL')).toBe(`slipway-rabbitmq-${name}`)
      const variable = `RABBITMQ_URL_${name.toUpperCase().replaceAll('-', '_')}`
      const created = secretOf('broker-users', variable)
      expect(created).toBe(chart === 'production' ? `slipway-rabbitmq-${name}` : undefined)
    }
  })

  test('each service has its own address of Redis', () => {
    for (const name of REDIS_USERS) expect(secretOf(name, 'REDIS_URL')).toBe(`slipway-redis-${name}`)
  })
})

test('CloudNativePG creates a role for each service', () => {
  const [cluster] = ofKind(chartOf('production'), 'Cluster')
  expect(cluster?.spec?.managed?.roles).toEqual(
    DATABASE_ROLES.map((role) => ({
      name: serviceUser(role),
      login: true,
      passwordSecret: { name: `slipway-database-${role}` },
    })),
  )
})

describe('scaling', () => {
  const sources = ['services', 'packages']
    .flatMap((folder) =>
      fs.readdirSync(path.join(repositoryRoot, folder)).map((name) => path.join(repositoryRoot, folder, name, 'src')),
    )
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map((file) => path.join(folder, String(file))))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => fs.readFileSync(file, 'utf8'))
    .join('\n')

  test.each(ofKind(chartOf('everything'), 'ScaledObject').map((scaler) => [scaler.metadata.name, scaler] as const))(
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
})

describe('make manifests', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/manifests.mjs', ...args], { cwd: repositoryRoot, encoding: 'utf8' })

  test('writes what Helm makes with the given values and options, and prints the file', () => {
    const { stdout } = run(valuesFile('minimal'), '--set=autoscaling.by=hpa')
    const file = path.join(repositoryRoot, stdout.trim())
    const manifests = parseManifests(fs.readFileSync(file, 'utf8'))
    fs.rmSync(file)
    expect(stdout).toMatch(/^dist\/slipway-.*-minimal\.yaml\n$/)
    expect(ofKind(manifests, 'HorizontalPodAutoscaler')).toHaveLength(5)
  })

  test('names the values that Helm refuses', () => {
    const { status, stderr } = run(valuesFile('minimal'), '--set=autoscaling.by=hand')
    expect(status).toBe(1)
    expect(stderr).toContain('minimal-values.yaml')
    expect(stderr).toContain('/autoscaling/by')
  })
})
