import { BROKER_USERS } from '@slipway/broker'
import { DATABASE_ROLES } from '@slipway/database'
import { REDIS_USERS } from '@slipway/runtime/redis'
import {
  behind,
  type Container,
  type Manifest,
  ofKind,
  type PodSpec,
  type SecretKey,
  selects,
  services,
  templateOf,
  workloads,
} from './manifests.ts'

/** A service ends within 20 s after its drain: packages/runtime. */
const LEAVE_SECONDS = 20

/** Images that need a writable root file system: that of RabbitMQ writes its configuration beside its program. */
const WRITABLE_ROOTS = ['rabbitmq']

/** The Secrets and keys that operators make, and those that the user makes by docs/kubernetes.md. */
const MADE_ELSEWHERE: Record<string, string[]> = {
  'slipway-keys': ['encryption-keys', 'jwt-keys', 'admin-password'],
  'slipway-servers': ['database-url'],
  'slipway-redis': ['password', 'user.acl'],
  'slipway-backups': ['access-key-id', 'secret-access-key'],
  'postgres-app': ['uri'],
  // One for each role of Postgres: packages/database/src/roles.
  ...Object.fromEntries(DATABASE_ROLES.map((role) => [`slipway-database-${role}`, ['username', 'password', 'uri']])),
  // One for each user of RabbitMQ: packages/broker/src/users.
  ...Object.fromEntries(BROKER_USERS.map((user) => [`slipway-rabbitmq-${user}`, ['uri']])),
  // One for each user of Redis: packages/runtime/src/redis/users.
  ...Object.fromEntries(REDIS_USERS.map((user) => [`slipway-redis-${user}`, ['uri']])),
  'rabbitmq-default-user': ['username', 'password'],
  // Made by the user, or by cert-manager.
  'slipway-bridge-tls': ['tls.crt', 'tls.key', 'ca.crt'],
}

const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`
const podOf = (workload: Manifest) => templateOf(workload)?.spec ?? { containers: [] }

/** All problems of the objects of an installation. */
export function violations(manifests: Manifest[]): string[] {
  return [
    ...workloads(manifests).flatMap((workload) => {
      const pod = podOf(workload)
      const containers = [...pod.containers, ...(pod.initContainers ?? [])]
      return [
        ...podProblems(pod),
        ...containers.flatMap((container) => containerProblems(container, !/Job$/.test(workload.kind))),
        ...referenceProblems(manifests, pod, containers),
      ].map((problem) => `${nameOf(workload)} ${problem}`)
    }),
    ...services(manifests).flatMap((service) =>
      serviceProblems(manifests, service).map((problem) => `${nameOf(service)} ${problem}`),
    ),
    ...wiringProblems(manifests),
    ...scalingProblems(manifests),
    ...backupProblems(manifests),
    // An attacker in a pod gets the rights of its account.
    ...ofKind(manifests, 'Role', 'ClusterRole').map((role) => `${nameOf(role)} gives rights at the API server`),
    ...ofKind(manifests, 'Secret').map((secret) => `${nameOf(secret)} has values that all can read`),
  ]
}

function podProblems(pod: PodSpec): string[] {
  const { securityContext } = pod
  return [
    ...when(securityContext?.runAsNonRoot !== true || !securityContext.runAsUser, 'may run as root'),
    ...when(securityContext?.seccompProfile?.type !== 'RuntimeDefault', 'has no seccomp profile'),
    ...when(pod.hostNetwork || pod.hostPID || pod.hostIPC, 'shares a namespace of its node'),
    ...when(
      pod.volumes?.some(({ hostPath }) => hostPath),
      'mounts a path of its node',
    ),
    ...when(pod.automountServiceAccountToken !== false, 'has a token for the API server'),
    ...when(pod.enableServiceLinks !== false, 'has variables made of Services'),
  ]
}

function containerProblems(container: Container, serves: boolean): string[] {
  const { name, image = '', resources = {}, securityContext = {} } = container
  const [, tag] = /:([\w][\w.-]*)$/.exec(image) ?? []
  const lacking = (['requests', 'limits'] as const).flatMap((kind) =>
    ['cpu', 'memory'].filter((what) => !resources[kind]?.[what]).map((what) => `${what} among its ${kind}`),
  )
  return [
    ...when(tag === undefined || tag === 'latest', `has an image without a version: ${image}`),
    ...lacking.map((what) => `has no ${what}`),
    ...when(serves && !container.livenessProbe, 'has no liveness probe'),
    ...when(serves && !container.readinessProbe, 'has no readiness probe'),
    ...when(securityContext.allowPrivilegeEscalation !== false, 'may gain privileges'),
    ...when(securityContext.privileged, 'is privileged'),
    ...when(!securityContext.capabilities?.drop?.includes('ALL'), 'keeps capabilities'),
    ...when(securityContext.capabilities?.add?.length, 'adds capabilities'),
    ...when(
      securityContext.readOnlyRootFilesystem !== true && !WRITABLE_ROOTS.includes(name),
      'may write to its root file system',
    ),
  ]
}

/** Finds ConfigMaps, Secrets and volumes that a pod names and that neither the manifests nor others make. */
function referenceProblems(manifests: Manifest[], pod: PodSpec, containers: Container[]): string[] {
  const settings = [
    ...containers.flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name)),
    ...(pod.volumes ?? []).map(({ configMap }) => configMap?.name),
    ...containers.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)),
  ].filter((name) => name !== undefined)
  const secrets = [
    ...containers.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.secretKeyRef)),
    ...(pod.volumes ?? []).flatMap(({ secret }) =>
      (secret?.items ?? []).map(({ key }) => ({ name: secret?.secretName ?? '', key })),
    ),
  ].filter((key) => key !== undefined)
  return [
    ...settings
      .filter((name) => !find(manifests, 'ConfigMap', name))
      .map((name) => `names the ConfigMap ${name}, which is not there`),
    ...secrets.filter((key) => !isMade(key)).map(({ name, key }) => `names ${key} of ${name}, which nobody makes`),
    ...containers.flatMap(({ volumeMounts = [] }) =>
      volumeMounts
        .filter(
          ({ name }) => name !== 'data' && name !== 'journal' && !pod.volumes?.some((volume) => volume.name === name),
        )
        .map(({ name }) => `mounts ${name}, which is no volume`),
    ),
  ]
}

const isMade = ({ name, key }: SecretKey) => MADE_ELSEWHERE[name]?.includes(key) ?? false

function serviceProblems(manifests: Manifest[], service: Manifest): string[] {
  const { template, replicas } = service.spec ?? {}
  const pod = podOf(service)
  const labels = template?.metadata.labels ?? {}
  const drain = Number(settingsOf(manifests, pod)['SLIPWAY_DRAIN_SECONDS'])
  const budgets = ofKind(manifests, 'PodDisruptionBudget').filter(({ spec }) => selects(spec?.selector, labels))
  const reached = ofKind(manifests, 'Service').filter(
    (each) => each.spec?.publishNotReadyAddresses !== true && behind(each, manifests).includes(service),
  )
  const ready = pod.containers[0]?.readinessProbe?.httpGet?.path
  const scaled = autoscalers(manifests).some(({ spec }) => spec?.scaleTargetRef?.name === service.metadata.name)
  return [
    ...when(!(drain >= 5), 'does not drain for 5 s or more'),
    ...when(!((pod.terminationGracePeriodSeconds ?? 0) >= drain + LEAVE_SECONDS), 'is killed before it has left'),
    ...when(budgets.length !== 1 || budgets[0]?.spec?.maxUnavailable !== 1, 'has no disruption budget of its own'),
    ...when(!pod.topologySpreadConstraints?.length, 'may have all its replicas on one node'),
    ...when(!pod.containers[0]?.startupProbe, 'has no startup probe'),
    ...when(reached.length > 0 && ready !== '/livez', 'is taken out, with all its replicas, when a server is away'),
    ...when(scaled && replicas !== undefined, 'has its replicas set by the manifest and by an autoscaler'),
  ]
}

/** Finds references between objects that lead nowhere. */
function wiringProblems(manifests: Manifest[]): string[] {
  const ports = (workload: Manifest) => podOf(workload).containers.flatMap((container) => container.ports ?? [])
  return [
    ...ofKind(manifests, 'Service').flatMap((service) => {
      const targets = behind(service, manifests)
      const missing = (service.spec?.ports ?? []).filter(({ port, targetPort = port }) => {
        return !targets.flatMap(ports).some((open) => open.name === targetPort || open.containerPort === targetPort)
      })
      return [
        ...when(targets.length !== 1, `${nameOf(service)} selects ${targets.length} workloads`),
        ...missing.map(({ name }) => `${nameOf(service)} leads to no port ${name}`),
      ]
    }),
    ...ofKind(manifests, 'Ingress').flatMap((ingress) =>
      (ingress.spec?.rules ?? []).flatMap(({ host, http }) => [
        ...http.paths
          .map(({ backend }) => backend.service)
          .filter(
            ({ name, port }) => !find(manifests, 'Service', name)?.spec?.ports?.some((open) => open.name === port.name),
          )
          .map(({ name }) => `${nameOf(ingress)} leads to no Service ${name}`),
        ...when(
          ingress.spec?.tls !== undefined && !ingress.spec.tls.some(({ hosts }) => hosts.includes(host)),
          `${nameOf(ingress)} has no certificate for ${host}`,
        ),
      ]),
    ),
    ...ofKind(manifests, 'PodMonitor')
      .filter(({ metadata }) => metadata.name === 'slipway')
      .flatMap((monitor) => {
        const port = monitor.spec?.podMetricsEndpoints?.[0]?.port
        return services(manifests)
          .filter((service) => !ports(service).some(({ name }) => name === port))
          .map((service) => `${nameOf(monitor)} does not find the port of ${nameOf(service)}`)
      }),
    ...when(
      !ofKind(manifests, 'NetworkPolicy').some(
        ({ spec }) =>
          Object.keys(spec?.podSelector ?? {}).length === 0 &&
          spec?.policyTypes?.length === 2 &&
          !spec.egress &&
          !spec.ingress,
      ),
      'no NetworkPolicy denies what no other allows',
    ),
  ]
}

/** Connections that a replica may open to Postgres: docs/operations.md. */
const CONNECTIONS: Record<string, number> = {
  gateway: 10,
  planner: 15,
  dispatcher: 16,
  'executor-bridge': 10,
  'log-stream': 10,
}

const autoscalers = (manifests: Manifest[]) => ofKind(manifests, 'HorizontalPodAutoscaler', 'ScaledObject')

function scalingProblems(manifests: Manifest[]): string[] {
  const scalers = autoscalers(manifests)
  const most = ({ spec }: Manifest) => spec?.maxReplicas ?? spec?.maxReplicaCount ?? Number.POSITIVE_INFINITY
  const database = ofKind(manifests, 'Cluster')[0]?.spec?.postgresql?.parameters?.['max_connections']
  // During a replacement there is one more replica of each service.
  const opened = scalers.reduce((sum, scaler) => {
    return sum + (most(scaler) + 1) * (CONNECTIONS[scaler.spec?.scaleTargetRef?.name ?? ''] ?? 0)
  }, 0)
  return [
    ...scalers.flatMap((scaler) => [
      ...when(
        !['Deployment', 'StatefulSet'].some((kind) => find(manifests, kind, scaler.spec?.scaleTargetRef?.name ?? '')),
        `${nameOf(scaler)} scales nothing`,
      ),
      ...when(
        !((scaler.spec?.minReplicas ?? scaler.spec?.minReplicaCount ?? 0) >= 2),
        `${nameOf(scaler)} may leave a single replica`,
      ),
    ]),
    ...when(
      scalers.length > 0 &&
        services(manifests).some(
          ({ kind, metadata }) =>
            kind === 'Deployment' &&
            scalers.filter(({ spec }) => spec?.scaleTargetRef?.name === metadata.name).length !== 1,
        ),
      'a service has no autoscaler, or two',
    ),
    ...when(
      database !== undefined && opened > Number(database),
      `services may open ${opened} connections, Postgres takes ${database}`,
    ),
  ]
}

/** A Postgres of the operator must archive its WAL and have base backups, in a store that exists, with keys that exist. */
function backupProblems(manifests: Manifest[]): string[] {
  const clusters = ofKind(manifests, 'Cluster')
  const schedules = ofKind(manifests, 'ScheduledBackup')
  return [
    ...clusters.flatMap((cluster) => {
      const archiver = cluster.spec?.plugins?.find(({ isWALArchiver }) => isWALArchiver === true)
      const store = archiver?.parameters?.['barmanObjectName'] ?? ''
      const scheduled = schedules.some(
        ({ spec }) =>
          spec?.cluster?.name === cluster.metadata.name &&
          spec.suspend !== true &&
          spec.pluginConfiguration?.name === archiver?.name,
      )
      return [
        ...when(!archiver, 'does not archive its WAL'),
        ...when(archiver && !find(manifests, 'ObjectStore', store), `archives to ${store}, which is not there`),
        ...when(!scheduled, 'has no scheduled backup'),
      ].map((problem) => `${nameOf(cluster)} ${problem}`)
    }),
    ...schedules
      .filter(({ spec }) => !find(manifests, 'Cluster', spec?.cluster?.name ?? ''))
      .map((schedule) => `${nameOf(schedule)} backs up nothing`),
    ...ofKind(manifests, 'ObjectStore').flatMap((store) =>
      Object.values(store.spec?.configuration?.s3Credentials ?? {})
        .filter((key) => !isMade(key))
        .map(({ name, key }) => `${nameOf(store)} names ${key} of ${name}, which nobody makes`),
    ),
  ]
}

/** The variables of a pod from its ConfigMaps. */
export function settingsOf(manifests: Manifest[], pod: PodSpec): Record<string, string> {
  const names = pod.containers.flatMap(({ envFrom = [] }) =>
    envFrom.map(({ configMapRef }) => configMapRef?.name ?? ''),
  )
  return Object.assign({}, ...names.map((name) => find(manifests, 'ConfigMap', name)?.data ?? {}))
}

function find(manifests: Manifest[], kind: string, name: string): Manifest | undefined {
  return ofKind(manifests, kind).find(({ metadata }) => metadata.name === name)
}

const when = (wrong: unknown, problem: string): string[] => (wrong ? [problem] : [])
