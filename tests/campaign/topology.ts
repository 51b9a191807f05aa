import type { ServiceName } from '@slipway/testing'

const TWICE = ['gateway', 'planner', 'dispatcher', 'executor-bridge', 'log-stream'] as const

export const SERVICES: readonly ServiceName[] = TWICE.flatMap((name) => [name, `${name}-2`] as const)
export const INSTANCES: readonly ServiceName[] = [
  'orchestration-instance',
  'orchestration-instance-2',
  'orchestration-instance-3',
]
export const PROCESSES: readonly ServiceName[] = [...SERVICES, ...INSTANCES]

/** The instance whose journal is on a small disk of its own. */
export const FULL_DISK: ServiceName = 'orchestration-instance-3'

/** The processes whose clocks can be set: one of each kind. The others run without the library that this takes. */
export const STEPPED_CLOCKS: readonly ServiceName[] = [
  ...TWICE.map((name) => `${name}-2` as const),
  'orchestration-instance-2',
]

/** Addresses that a process connects to: its setting, and what stands there. */
const ADDRESSES = {
  DATABASE_URL: 'postgres',
  RABBITMQ_URL: 'rabbitmq',
  REDIS_URL: 'redis',
  SLIPWAY_LOG_STREAM_URL: 'log-stream',
  SLIPWAY_BRIDGE_URL: 'bridge',
} as const

export type AddressSetting = keyof typeof ADDRESSES

const SETTINGS_OF: Record<string, readonly AddressSetting[]> = {
  gateway: ['DATABASE_URL', 'RABBITMQ_URL', 'REDIS_URL', 'SLIPWAY_LOG_STREAM_URL'],
  planner: ['DATABASE_URL', 'RABBITMQ_URL'],
  dispatcher: ['DATABASE_URL', 'RABBITMQ_URL'],
  'executor-bridge': ['DATABASE_URL', 'RABBITMQ_URL', 'REDIS_URL'],
  'log-stream': ['DATABASE_URL', 'RABBITMQ_URL', 'REDIS_URL'],
  'orchestration-instance': ['SLIPWAY_BRIDGE_URL'],
}

/** The settings of a process that name what it connects to. */
export const addressSettings = (name: ServiceName): readonly AddressSetting[] =>
  SETTINGS_OF[name.replace(/-[23]$/, '')] ?? []

export const linkName = (from: string, setting: AddressSetting) => `${from}>${ADDRESSES[setting]}`

/** The links of clients, which use both gateways. */
export const CLIENT_LINKS = ['client>gateway', 'client>gateway-2'] as const

/** Each pair of a process and what it connects to. */
export const LINKS: readonly string[] = [
  ...PROCESSES.flatMap((name) => addressSettings(name).map((setting) => linkName(name, setting))),
  ...CLIENT_LINKS,
]
