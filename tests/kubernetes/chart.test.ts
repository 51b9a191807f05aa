import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'
import { parse } from 'yaml'
import { CHARTS, chartFolder, chartOf, helm, refusal, renderChart } from './helm.ts'
import {
  kustomize,
  kustomizeWith,
  type Manifest,
  ofKind,
  overlayFolder,
  parseManifests,
  templateOf,
} from './manifests.ts'
import { misfits } from './schemas.ts'

type Json = Record<string, unknown>

/** Labels and annotations of tools: who made an object, in which order, and the checksum that restarts pods. */
const OF_THE_TOOL =
  /^(helm\.sh|argocd\.argoproj\.io|checksum)\/|^slipway\.dev\/stage$|^app\.kubernetes\.io\/(instance|version|managed-by|name|part-of)$/

/** Removes hashes: kustomize appends one to the names of ConfigMaps, and the chart one to the names of Jobs. */
const withoutHash = (text: string) =>
  text
    .replaceAll(
      /\b(slipway-dashboards|slipway-certificates|slipway-backup|slipway)-(?!dashboards)[a-z0-9]{10}\b/g,
      '$1',
    )
    .replaceAll(/"certificates-[0-9a-f]{8}"/g, '"certificates"')

/** The parts of an object that have an effect, without the parts for the tools. */
function essence(manifest: Manifest): [string, unknown] {
  const {
    kind,
    metadata,
    apiVersion: _,
    ...rest
  } = JSON.parse(withoutHash(JSON.stringify(manifest))) as Manifest & Json
  const strip = (labels: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(labels).filter(([key]) => !OF_THE_TOOL.test(key)))
  const template = templateOf({ kind, metadata, ...rest } as Manifest) as
    | { metadata: { annotations?: Record<string, string> } }
    | undefined
  if (template) template.metadata.annotations = strip(template.metadata.annotations)
  const essential = { labels: strip(metadata.labels), annotations: strip(metadata.annotations), ...rest }
  return [`${kind}/${metadata.name}`, sorted(essential)]
}

/** Normalizes a value: expressions of Prometheus on one line, and named lists without meaning of order sorted by name. */
function sorted(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\s+/g, ' ').trim()
  if (Array.isArray(value)) {
    const items = value.map(sorted)
    const named = items.every((item) => typeof item === 'object' && item !== null && 'name' in item)
    return named
      ? items.toSorted((a, b) => String((a as Json)['name']).localeCompare(String((b as Json)['name'])))
      : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sorted(each)]))
}

const OPTIONS = ['external-secrets', 'ingress-certificate', 'backup']
const EQUAL: [string, () => string, () => Manifest[]][] = [
  ['production', () => kustomize(overlayFolder('production')), () => chartOf('production')],
  ['external-services', () => kustomize(overlayFolder('external-services')), () => chartOf('external-services')],
  [
    `external-services with ${OPTIONS.join(', ')}`,
    () => kustomizeWith('external-services', OPTIONS),
    () =>
      renderChart(
        'external-services',
        '--set=externalSecrets.enabled=true,backup.enabled=true,ingress.issuer.kind=ClusterIssuer,ingress.issuer.name=letsencrypt',
      ),
  ],
  [
    'production with gateway-api, bridge-outside',
    () => kustomizeWith('production', ['gateway-api', 'bridge-outside']),
    () => renderChart('production', '--set=ingress.enabled=false,gatewayApi.enabled=true,bridge.outside.enabled=true'),
  ],
]

describe.each(EQUAL)('with the values of the overlay %s', (_name, overlayText, chartManifests) => {
  const overlay = Object.fromEntries(
    parseManifests(overlayText())
      .filter(({ kind }) => kind !== 'Namespace')
      .map(essence),
  )
  const chart = Object.fromEntries(chartManifests().map(essence))
  // The hook of the first installation runs before the account of the services exists, so it has its own account.
  const own = 'ServiceAccount/slipway-migrate' in chart

  test('the chart has the same objects', () => {
    const expected = [...Object.keys(overlay), ...(own ? ['ServiceAccount/slipway-migrate'] : [])]
    expect(Object.keys(chart).sort()).toEqual(expected.sort())
  })

  test.each(Object.keys(overlay))('%s is the same', (object) => {
    const expected = structuredClone(overlay[object]) as { spec?: { template?: { spec: Json } } }
    if (object === 'Job/migrate' && own && expected.spec?.template) {
      expected.spec.template.spec['serviceAccountName'] = 'slipway-migrate'
    }
    expect(chart[object]).toEqual(expected)
  })
})

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
      const upgrade = renderChart(chart, '--is-upgrade')
      expect(hookOf(job(upgrade))).toBe('pre-upgrade')
      const users = ofKind(upgrade, 'Job').find(({ metadata }) => metadata.name === 'broker-users') as Manifest
      expect(hookOf(users)).toBe('pre-upgrade')
    },
  )

  test('is awaited by all services', () => {
    for (const chart of CHARTS) {
      for (const { spec } of ofKind(chartOf(chart), 'Deployment')) {
        const probe = spec?.template?.spec.containers[0]?.startupProbe as { httpGet?: { path: string } }
        expect(probe.httpGet?.path).toBe('/readyz')
      }
    }
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
    expect(refusal()).not.toContain('Error')
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
    ['bridge.certificates=none', '/bridge/certificates'],
    ['monitoring.runbooks=docs/operations.md', '/monitoring/runbooks'],
    ['backup.keepDays=0', '/backup/keepDays'],
    ['instances.updateStrategy=Recreate', '/instances/updateStrategy'],
  ])('refuse %s', (value, problem) => {
    const said = refusal('--set', value)
    expect(said).toContain("values don't meet the specifications of the schema")
    expect(said).toContain(problem)
  })

  test('pass the linter of Helm', () => {
    for (const chart of CHARTS) {
      const file = path.join(chartFolder, 'ci', `${chart}-values.yaml`)
      expect(() =>
        execFileSync(helm, ['lint', '--strict', chartFolder, '--values', file], { stdio: 'pipe' }),
      ).not.toThrow()
    }
  })
})

test('the values on the page are valid and have the described effects', () => {
  const page = fs.readFileSync(path.join(repositoryRoot, 'docs/kubernetes.md'), 'utf8')
  const schema = JSON.parse(fs.readFileSync(path.join(chartFolder, 'values.schema.json'), 'utf8'))
  const blocks = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)]
    .map(([, , block = '']) => block)
    .filter((block) => Object.keys(parse(block)).every((key) => key in schema.properties))
  expect(blocks.length).toBeGreaterThanOrEqual(6)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-values-'))
  const files = blocks.map((block, index) => {
    fs.writeFileSync(path.join(folder, `${index}.yaml`), block)
    return `--values=${folder}/${index}.yaml`
  })
  const manifests = renderChart('minimal', '--set=ingress.enabled=true', ...files)
  fs.rmSync(folder, { recursive: true })
  expect(misfits(manifests)).toEqual([])
  const text = JSON.stringify(manifests)
  for (const shown of [
    'registry.mine/slipway/gateway:',
    'slipway.mine',
    '10.1.2.0/24',
    'instance-zone-a',
    'wiki.mine',
  ]) {
    expect(text).toContain(shown)
  }
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

  test('a Gateway routes streams to log-stream and all other paths to the gateway', () => {
    const rules = named('HTTPRoute', 'slipway').spec?.rules as unknown as {
      matches: { path: { type: string; value: string } }[]
      backendRefs: { name: string; port: number }[]
    }[]
    const leadsTo = (url: string) =>
      rules.find(({ matches }) =>
        matches.some(({ path: { type, value } }) =>
          type === 'RegularExpression'
            ? new RegExp(`^${value}$`).test(url)
            : url === value || `${url}/`.startsWith(value.replace(/\/?$/, '/')),
        ),
      )?.backendRefs[0]?.name
    expect(leadsTo('/api/v1/sse/deployments')).toBe('log-stream')
    expect(leadsTo('/api/v1/deployments/0190a0f0/logs')).toBe('log-stream')
    expect(leadsTo('/api/v1/deployments/0190a0f0/logs/history')).toBe('gateway')
    expect(leadsTo('/')).toBe('gateway')
    for (const { backendRefs } of rules) {
      const ports = named('Service', backendRefs[0]?.name ?? '').spec?.ports?.map(({ port }) => port)
      expect(ports).toContain(backendRefs[0]?.port)
    }
  })

  test('every Secret that a pod reads is made by External Secrets, an operator or cert-manager', () => {
    const made = new Set([
      ...ofKind(manifests, 'ExternalSecret').map(({ metadata }) => metadata.name),
      ...ofKind(manifests, 'Certificate').map(({ spec }) => spec?.secretName),
      ...['postgres-app', 'rabbitmq-default-user', 'slipway-backup-upload'],
    ])
    const read = [...JSON.stringify(manifests).matchAll(/"secretKeyRef":{"name":"([^"]+)"|"secretName":"([^"]+)"/g)]
    expect(read.length).toBeGreaterThan(20)
    expect(read.map(([, key, volume]) => key ?? volume).filter((name) => !made.has(name))).toEqual([])
  })

  test('alerts link to the page in the values', () => {
    const rules = JSON.stringify(named('PrometheusRule', 'slipway'))
    const links = [...rules.matchAll(/"runbook_url":"([^"]+)"/g)].map(([, link]) => link)
    expect(links.length).toBeGreaterThan(20)
    for (const link of links) expect(link).toMatch(/^https:\/\/wiki\.mine\/slipway\/operations#slipway[a-z]+$/)
  })
})
