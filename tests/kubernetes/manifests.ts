import { parseAllDocuments } from 'yaml'

/** The fields of Kubernetes objects that the checks read. The schemas check the whole objects. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Labels; annotations?: Labels }
  spec?: Spec
  data?: Record<string, string>
  stringData?: Record<string, string>
}

export type Labels = Record<string, string>

export interface Selector {
  matchLabels?: Labels
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
}

export interface Container {
  name: string
  image?: string
  env?: {
    name: string
    value?: string
    valueFrom?: { secretKeyRef?: SecretKey; configMapKeyRef?: SecretKey; fieldRef?: object }
  }[]
  envFrom?: { configMapRef?: { name: string } }[]
  ports?: { name?: string; containerPort: number }[]
  readinessProbe?: { httpGet?: { path: string; port: string } }
  livenessProbe?: object
  startupProbe?: object
  resources?: { requests?: Labels; limits?: Labels }
  securityContext?: {
    allowPrivilegeEscalation?: boolean
    privileged?: boolean
    readOnlyRootFilesystem?: boolean
    capabilities?: { drop?: string[]; add?: string[] }
  }
  volumeMounts?: { name: string; mountPath: string }[]
}

export interface SecretKey {
  name: string
  key: string
  optional?: boolean
}

export interface PodSpec {
  containers: Container[]
  initContainers?: Container[]
  automountServiceAccountToken?: boolean
  enableServiceLinks?: boolean
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  terminationGracePeriodSeconds?: number
  topologySpreadConstraints?: object[]
  securityContext?: {
    runAsNonRoot?: boolean
    runAsUser?: number
    runAsGroup?: number
    seccompProfile?: { type: string }
  }
  serviceAccountName?: string
  volumes?: {
    name: string
    hostPath?: object
    configMap?: { name: string }
    projected?: {
      sources: { serviceAccountToken?: { path: string; audience?: string }; configMap?: { name: string } }[]
    }
    secret?: { secretName: string; items?: { key: string; path: string }[] }
  }[]
}

export interface Peer {
  podSelector?: Selector
  namespaceSelector?: Selector
  ipBlock?: { cidr: string; except?: string[] }
}

export interface Rule {
  from?: Peer[]
  to?: Peer[]
  ports?: { port?: number; endPort?: number; protocol?: string }[]
}

export interface PodTemplate {
  metadata: { labels: Labels }
  spec: PodSpec
}

interface Spec {
  template?: PodTemplate
  // A CronJob
  jobTemplate?: { spec: { template: PodTemplate } }
  // A Certificate of cert-manager
  secretName?: string
  dnsNames?: string[]
  replicas?: number
  // A Deployment
  strategy?: { rollingUpdate?: { maxSurge?: number; maxUnavailable?: number } }
  // A Job
  ttlSecondsAfterFinished?: number
  serviceName?: string
  updateStrategy?: { type?: string }
  /** In a Service these are plain labels. */
  selector?: Selector
  // A Service
  ports?: { name: string; port: number; targetPort?: string | number }[]
  publishNotReadyAddresses?: boolean
  // An Ingress
  tls?: { hosts: string[]; secretName: string }[]
  rules?: {
    host: string
    http: {
      paths: { path: string; pathType: string; backend: { service: { name: string; port: { name: string } } } }[]
    }
  }[]
  // An autoscaler
  scaleTargetRef?: { kind?: string; name: string }
  minReplicas?: number
  maxReplicas?: number
  minReplicaCount?: number
  maxReplicaCount?: number
  triggers?: { type: string; metadata: Record<string, string> }[]
  // A NetworkPolicy
  podSelector?: Selector
  policyTypes?: string[]
  ingress?: Rule[]
  egress?: Rule[]
  // A PodDisruptionBudget
  maxUnavailable?: number
  // A PodMonitor
  podMetricsEndpoints?: { port: string; path?: string }[]
  // A Postgres cluster
  postgresql?: { parameters?: Labels }
  managed?: { roles: { name: string; login: boolean; passwordSecret: { name: string } }[] }
  plugins?: { name: string; isWALArchiver?: boolean; parameters?: Labels }[]
  // A scheduled backup or an object store of a Postgres cluster
  cluster?: { name: string }
  suspend?: boolean
  pluginConfiguration?: { name: string }
  configuration?: { s3Credentials?: Record<string, SecretKey> }
}

/** The objects of a YAML text. Documents that consist of comments are left out. */
export const parseManifests = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null)

export const ofKind = (manifests: Manifest[], ...kinds: string[]) =>
  manifests.filter(({ kind }) => kinds.includes(kind))

/** All objects that have pods. */
export const workloads = (manifests: Manifest[]) => ofKind(manifests, 'Deployment', 'StatefulSet', 'Job', 'CronJob')

export const templateOf = ({ spec }: Manifest) => spec?.template ?? spec?.jobTemplate?.spec.template

/** The services of Slipway. */
export const services = (manifests: Manifest[]) =>
  ofKind(manifests, 'Deployment', 'StatefulSet').filter(
    ({ spec }) => spec?.template?.metadata.labels['app.kubernetes.io/part-of'] === 'slipway',
  )

export function selects(selector: Selector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {}
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === 'In') return values.includes(labels[key] ?? '')
      if (operator === 'Exists') return key in labels
      throw new Error(`the checks do not know the operator ${operator}`)
    })
  )
}

/** The workloads that a Service selects. Its selector consists of labels only. */
export const behind = (service: Manifest, manifests: Manifest[]) =>
  workloads(manifests).filter((workload) =>
    selects({ matchLabels: service.spec?.selector as Labels }, templateOf(workload)?.metadata.labels ?? {}),
  )
