import { describe, expect, test } from '@jest/globals'
import { chartOf } from './helm.ts'
import { type Container, type Manifest, ofKind, type PodSpec } from './manifests.ts'
import { violations } from './policies.ts'
import { invalid, misfits } from './schemas.ts'

/** Each check must find a planted problem. A check that finds nothing anywhere would look like a success. */
const production = chartOf('production')

interface Planted {
  manifests: Manifest[]
  object(kind: string, name: string): Manifest
  pod: PodSpec
  container: Container
}

function plant(change: (planted: Planted) => unknown): Manifest[] {
  const manifests = structuredClone(production)
  const object = (kind: string, name: string) => {
    const found = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name)
    if (!found) throw new Error(`there is no ${kind}/${name}`)
    return found
  }
  const pod = object('Deployment', 'gateway').spec?.template?.spec as PodSpec
  change({ manifests, object, pod, container: pod.containers[0] as Container })
  return manifests
}

const remove = (manifests: Manifest[], kind: string, name: string) => {
  const index = manifests.findIndex((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  manifests.splice(index, 1)
}

// biome-ignore lint/suspicious/noExplicitAny: the planted values have wrong types on purpose
type Wrong = any

describe('the rules for workloads', () => {
  test.each<[string, (planted: Planted) => unknown]>([
    ['Deployment/gateway may run as root', ({ pod }) => delete pod.securityContext?.runAsNonRoot],
    ['Deployment/gateway may run as root', ({ pod }) => Object.assign(pod.securityContext ?? {}, { runAsUser: 0 })],
    ['Deployment/gateway has no seccomp profile', ({ pod }) => delete pod.securityContext?.seccompProfile],
    ['Deployment/gateway shares a namespace of its node', ({ pod }) => Object.assign(pod, { hostNetwork: true })],
    [
      'Deployment/gateway mounts a path of its node',
      ({ pod }) => Object.assign(pod, { volumes: [{ name: 'x', hostPath: { path: '/' } }] }),
    ],
    ['Deployment/gateway has a token for the API server', ({ pod }) => delete pod.automountServiceAccountToken],
    ['Deployment/gateway has variables made of Services', ({ pod }) => delete pod.enableServiceLinks],
    [
      'Deployment/gateway has an image without a version: slipway/gateway:latest',
      ({ container }) => Object.assign(container, { image: 'slipway/gateway:latest' }),
    ],
    [
      'Deployment/gateway has an image without a version: localhost:5000/slipway/gateway',
      ({ container }) => Object.assign(container, { image: 'localhost:5000/slipway/gateway' }),
    ],
    [
      'Deployment/gateway has no memory among its limits',
      ({ container }) => delete container.resources?.limits?.['memory'],
    ],
    [
      'Deployment/gateway has no cpu among its requests',
      ({ container }) => delete container.resources?.requests?.['cpu'],
    ],
    ['Deployment/gateway has no liveness probe', ({ container }) => delete container.livenessProbe],
    ['Deployment/gateway has no startup probe', ({ container }) => delete container.startupProbe],
    [
      'Deployment/gateway may gain privileges',
      ({ container }) => delete container.securityContext?.allowPrivilegeEscalation,
    ],
    [
      'Deployment/gateway is privileged',
      ({ container }) => Object.assign(container.securityContext ?? {}, { privileged: true }),
    ],
    ['Deployment/gateway keeps capabilities', ({ container }) => delete container.securityContext?.capabilities?.drop],
    [
      'Deployment/gateway adds capabilities',
      ({ container }) => Object.assign(container.securityContext?.capabilities ?? {}, { add: ['NET_ADMIN'] }),
    ],
    [
      'Deployment/gateway may write to its root file system',
      ({ container }) => delete container.securityContext?.readOnlyRootFilesystem,
    ],
    [
      'Deployment/gateway is killed before it has left',
      ({ pod }) => Object.assign(pod, { terminationGracePeriodSeconds: 29 }),
    ],
    [
      'Deployment/gateway has no disruption budget of its own',
      ({ manifests }) => remove(manifests, 'PodDisruptionBudget', 'gateway'),
    ],
    ['Deployment/gateway may have all its replicas on one node', ({ pod }) => delete pod.topologySpreadConstraints],
    [
      'Deployment/gateway is taken out, with all its replicas, when a server is away',
      ({ container }) => Object.assign(container.readinessProbe?.httpGet ?? {}, { path: '/readyz' }),
    ],
    [
      'Deployment/gateway has its replicas set by the manifest and by an autoscaler',
      ({ object }) => Object.assign(object('Deployment', 'gateway').spec ?? {}, { replicas: 3 }),
    ],
    [
      'Deployment/gateway names jwt of slipway-keys, which nobody makes',
      ({ container }) =>
        container.env?.push({ name: 'X', valueFrom: { secretKeyRef: { name: 'slipway-keys', key: 'jwt' } } }),
    ],
    [
      'StatefulSet/orchestration-instance names ca.pem of slipway-bridge-tls, which nobody makes',
      ({ object }) =>
        object('StatefulSet', 'orchestration-instance').spec?.template?.spec.volumes?.push({
          name: 'x',
          secret: { secretName: 'slipway-bridge-tls', items: [{ key: 'ca.pem', path: 'x' }] },
        }),
    ],
    [
      'Role/any gives rights at the API server',
      ({ manifests }) =>
        manifests.push({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'any' } }),
    ],
    [
      'Secret/any has values that all can read',
      ({ manifests }) => manifests.push({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any' } }),
    ],
    [
      'Deployment/gateway names the ConfigMap settings, which is not there',
      ({ container }) => container.envFrom?.push({ configMapRef: { name: 'settings' } }),
    ],
    [
      'StatefulSet/orchestration-instance mounts tmp, which is no volume',
      ({ object }) => delete object('StatefulSet', 'orchestration-instance').spec?.template?.spec.volumes,
    ],
    [
      'Service/gateway selects 0 workloads',
      ({ object }) => Object.assign(object('Service', 'gateway').spec?.selector ?? {}, { x: 'y' }),
    ],
    [
      'Service/gateway leads to no port http',
      ({ object }) =>
        Object.assign(object('Service', 'gateway').spec ?? {}, {
          ports: [{ name: 'http', port: 8080, targetPort: 'web' }],
        }),
    ],
    ['Ingress/api leads to no Service gateway', ({ manifests }) => remove(manifests, 'Service', 'gateway')],
    [
      'Ingress/api has no certificate for slipway.example.com',
      ({ object }) => Object.assign(object('Ingress', 'api').spec?.tls?.[0] ?? {}, { hosts: ['other.example.com'] }),
    ],
    [
      'PodMonitor/slipway does not find the port of Deployment/gateway',
      ({ container }) =>
        Object.assign(container, { ports: container.ports?.filter(({ name }) => name !== 'management') }),
    ],
    [
      'no NetworkPolicy denies what no other allows',
      ({ manifests }) => remove(manifests, 'NetworkPolicy', 'default-deny'),
    ],
    [
      'ScaledObject/gateway scales nothing',
      ({ object }) => Object.assign(object('ScaledObject', 'gateway').spec?.scaleTargetRef ?? {}, { name: 'gatway' }),
    ],
    [
      'ScaledObject/gateway may leave a single replica',
      ({ object }) => Object.assign(object('ScaledObject', 'gateway').spec ?? {}, { minReplicaCount: 1 }),
    ],
    ['a service has no autoscaler, or two', ({ manifests }) => remove(manifests, 'ScaledObject', 'planner')],
    ['Cluster/postgres has no scheduled backup', ({ manifests }) => remove(manifests, 'ScheduledBackup', 'postgres')],
    [
      'Cluster/postgres has no scheduled backup',
      ({ object }) => Object.assign(object('ScheduledBackup', 'postgres').spec ?? {}, { suspend: true }),
    ],
    [
      'ScheduledBackup/postgres backs up nothing',
      ({ object }) =>
        Object.assign(object('ScheduledBackup', 'postgres').spec ?? {}, { cluster: { name: 'postgress' } }),
    ],
    ['Cluster/postgres does not archive its WAL', ({ object }) => delete object('Cluster', 'postgres').spec?.plugins],
    [
      'Cluster/postgres archives to postgres-backups, which is not there',
      ({ manifests }) => remove(manifests, 'ObjectStore', 'postgres-backups'),
    ],
    [
      'ObjectStore/postgres-backups names key of slipway-backup, which nobody makes',
      ({ object }) =>
        Object.assign(object('ObjectStore', 'postgres-backups').spec?.configuration?.s3Credentials ?? {}, {
          accessKeyId: { name: 'slipway-backup', key: 'key' },
        }),
    ],
    [
      'services may open 1235 connections, Postgres takes 500',
      ({ object }) => Object.assign(object('ScaledObject', 'gateway').spec ?? {}, { maxReplicaCount: 88 }),
    ],
  ])('%s', (problem, change) => {
    expect(violations(plant(change))).toContain(problem)
  })

  test('find a missing readiness probe of a workload without Service', () => {
    const planted = plant(
      ({ object }) => delete object('Deployment', 'planner').spec?.template?.spec.containers[0]?.readinessProbe,
    )
    expect(violations(planted)).toEqual(['Deployment/planner has no readiness probe'])
  })

  test('find a drain that is too short', () => {
    const planted = plant(({ manifests }) => {
      for (const { data } of ofKind(manifests, 'ConfigMap'))
        if (data?.['SLIPWAY_DRAIN_SECONDS']) data['SLIPWAY_DRAIN_SECONDS'] = '2'
    })
    expect(violations(planted)).toContain('Deployment/gateway does not drain for 5 s or more')
  })
})

describe('the types and schemas', () => {
  test('find unknown fields, missing fields and wrong types', () => {
    const planted = plant(({ object }) => {
      Object.assign(object('Deployment', 'gateway').spec ?? {}, { replica: 2 })
      delete object('Deployment', 'planner').spec?.selector
      const scaler: Wrong = object('ScaledObject', 'gateway').spec
      scaler.minReplicaCount = '2'
      const cluster: Wrong = object('Cluster', 'postgres').spec
      cluster.storage.sise = '1Gi'
      const store: Wrong = object('ObjectStore', 'postgres-backups').spec
      store.retention = '30d'
      const backup: Wrong = object('ScheduledBackup', 'postgres').spec
      backup.method = 'barman'
      const broker: Wrong = object('RabbitmqCluster', 'rabbitmq').spec
      broker.replica = 3
      const cache: Wrong = object('RedisReplication', 'redis').spec
      delete cache.clusterSize
      const monitor: Wrong = object('PodMonitor', 'slipway').spec
      monitor.podMetricsEndpoints[0].intervall = '15s'
      const policy: Wrong = object('NetworkPolicy', 'dns').spec
      policy.egress[0].port = 53
    })
    const found = misfits(planted)
    for (const expected of [
      /^Deployment\/gateway: .*'"replica"' does not exist/,
      /^Deployment\/planner: Property '"selector"' is missing/,
      /^ScaledObject\/gateway: Type 'string' is not assignable to type 'number'/,
      /^Cluster\/postgres: .*'"sise"' does not exist/,
      /^ObjectStore\/postgres-backups: .*'"retention"' does not exist/,
      /^ScheduledBackup\/postgres: Type '"barman"' is not assignable/,
      /^RabbitmqCluster\/rabbitmq: .*'"replica"' does not exist/,
      /^RedisReplication\/redis: Property 'clusterSize' is missing/,
      /^PodMonitor\/slipway: .*'"intervall"' does not exist/,
      /^NetworkPolicy\/dns: .*'"port"' does not exist/,
    ]) {
      expect(found).toContainEqual(expect.stringMatching(expected))
    }
    expect(found).toHaveLength(10)
  })

  test('find values that a schema does not allow', async () => {
    const planted = plant(({ object }) => {
      const cluster: Wrong = object('Cluster', 'postgres').spec
      cluster.postgresql.synchronous.method = 'some'
      const backup: Wrong = object('ScheduledBackup', 'postgres').spec
      backup.backupOwnerReference = 'nobody'
      const gateway: Wrong = object('Deployment', 'gateway').spec
      gateway.template.spec.containers[0].resources.limits.memory = { Gi: 1 }
    })
    expect((await invalid(planted)).map((problem) => problem.split(':')[0])).toEqual([
      'Deployment/gateway',
      'Cluster/postgres',
      'ScheduledBackup/postgres',
    ])
  })
})
