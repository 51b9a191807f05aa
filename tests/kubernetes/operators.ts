import type { IAffinity } from 'kubernetes-models/v1/Affinity'
import type { IPersistentVolumeClaimSpec } from 'kubernetes-models/v1/PersistentVolumeClaimSpec'
import type { IPodSecurityContext } from 'kubernetes-models/v1/PodSecurityContext'
import type { IResourceRequirements } from 'kubernetes-models/v1/ResourceRequirements'
import type { ISecurityContext } from 'kubernetes-models/v1/SecurityContext'
import type { ITopologySpreadConstraint } from 'kubernetes-models/v1/TopologySpreadConstraint'

// No npm package has the schemas of these operators. These types contain only the fields that the chart uses.

interface Metadata {
  name: string
  namespace?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

/** https://github.com/rabbitmq/cluster-operator, from 2.15 on. */
export interface IRabbitmqCluster {
  apiVersion: 'rabbitmq.com/v1beta1'
  kind: 'RabbitmqCluster'
  metadata: Metadata
  spec: {
    replicas?: number
    image?: string
    rabbitmq?: { additionalConfig?: string }
    persistence?: { storage?: string; storageClassName?: string }
    resources?: IResourceRequirements
    affinity?: IAffinity
  }
}

interface RedisImage {
  image: string
  imagePullPolicy?: string
  redisSecret?: { name: string; key: string }
  resources?: IResourceRequirements
}

interface RedisPods {
  podSecurityContext?: IPodSecurityContext
  securityContext?: ISecurityContext
  topologySpreadConstraints?: ITopologySpreadConstraint[]
}

/** https://github.com/OT-CONTAINER-KIT/redis-operator, from 0.22 on. */
export interface IRedisReplication {
  apiVersion: 'redis.redis.opstreelabs.in/v1beta2'
  kind: 'RedisReplication'
  metadata: Metadata
  spec: RedisPods & {
    clusterSize: number
    kubernetesConfig: RedisImage
    acl?: { secret: { secretName: string; items: { key: string; path: string }[] } }
    redisConfig?: { dynamicConfig?: string[] }
    pdb?: { enabled: boolean; maxUnavailable?: number }
    storage?: { volumeClaimTemplate: { spec: IPersistentVolumeClaimSpec } }
    sentinel?: RedisPods & RedisImage & { size: number }
  }
}

/** https://github.com/cloudnative-pg/plugin-barman-cloud, from 0.9 on. */
export interface IObjectStore {
  apiVersion: 'barmancloud.cnpg.io/v1'
  kind: 'ObjectStore'
  metadata: Metadata
  spec: {
    retentionPolicy?: `${number}${'d' | 'w' | 'm'}`
    configuration: {
      destinationPath: string
      endpointURL?: string
      s3Credentials?: { accessKeyId: SecretKey; secretAccessKey: SecretKey }
      wal?: { compression?: 'gzip' | 'bzip2' | 'zstd' | 'lz4' | 'snappy' | 'xz' }
      data?: { compression?: 'gzip' | 'bzip2' | 'snappy' }
    }
    instanceSidecarConfiguration?: { resources?: IResourceRequirements }
  }
}

interface SecretKey {
  name: string
  key: string
}
