import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { SERVICES } from '@slipway/testing'
import { chartOf, render, valuesFile } from './helm.ts'
import { type Manifest, ofKind, templateOf } from './manifests.ts'
import { type End, reaches } from './network.ts'

const production = chartOf('production')

describe('the network', () => {
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

  test('lets only the services that need them reach servers elsewhere', () => {
    const manifests = chartOf('external-services')
    const open = [...SERVICES, 'migrate'].flatMap((name) =>
      [5432, 5672, 6379]
        .filter((port) => reaches(manifests, pod(name), { address: '10.1.2.3' }, port))
        .map((port) => `${name}:${port}`),
    )
    const expected = [
      ...DATABASE.map((name) => `${name}:5432`),
      ...BROKER.map((name) => `${name}:5672`),
      ...CACHE.map((name) => `${name}:6379`),
    ]
    expect(open.sort()).toEqual(expected.sort())
  })

  test('lets every address reach only the bridge, with bridge.outside', () => {
    const outside = render(valuesFile('production'), '--set=bridge.outside.enabled=true')
    const open = (manifests: Manifest[]) =>
      SERVICES.flatMap((name) =>
        PORTS.filter((port) => reaches(manifests, { address: '203.0.113.7' }, pod(name), port)).map(
          (port) => `${name}:${port}`,
        ),
      )
    expect(open(production)).toEqual([])
    expect(open(outside)).toEqual(['executor-bridge:8082'])
  })

  test('lets the instances of a pool reach the bridge and ssh targets, and no other service', () => {
    const manifests = chartOf('everything')
    const from = pod('orchestration-instance-zone-a')
    expect(reaches(manifests, from, pod('executor-bridge'), 8082)).toBe(true)
    expect(reaches(manifests, from, { address: '203.0.113.7' }, 22)).toBe(true)
    expect(reaches(manifests, from, pod('gateway'), 8080)).toBe(false)
  })

  test('allows exactly the required connections', () => {
    const names = Object.keys(ends)
    const open = names.flatMap((from) =>
      names.flatMap((to) =>
        PORTS.filter((port) => {
          const [source, destination] = [ends[from], ends[to]]
          // The policies of Slipway do not apply if both ends are outside of it.
          if (!source || !destination || !(OURS.includes(from) || OURS.includes(to))) return false
          return reaches(production, source, destination, port)
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

test('with login providers, the gateways reach them and read their file', () => {
  const provider: End = { address: '10.9.8.7' }
  const gateway: End = {
    namespace: 'slipway',
    labels: { 'app.kubernetes.io/name': 'gateway', 'app.kubernetes.io/part-of': 'slipway' },
  }
  const manifests = chartOf('everything')
  expect([reaches(manifests, gateway, provider, 443), reaches(production, gateway, provider, 443)]).toEqual([
    true,
    false,
  ])
  const pod = templateOf(
    ofKind(manifests, 'Deployment').find(({ metadata }) => metadata.name === 'gateway') as Manifest,
  )
  const { env = [], volumeMounts = [] } = pod?.spec.containers[0] ?? {}
  const variable = (wanted: string) => env.find(({ name }) => name === wanted)?.value ?? ''
  expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain(path.dirname(variable('SLIPWAY_OIDC_FILE')))
  expect(variable('SLIPWAY_PUBLIC_URL')).toBe('https://slipway.example.com')
})
