const COMMIT = ['before-commit', 'after-commit'] as const
const SEND = ['before-send', 'after-send'] as const
const REMOVE = ['before-removal', 'after-removal'] as const
const ACKNOWLEDGE = ['before-acknowledge', 'after-acknowledge'] as const
const ANSWER = ['before-answer', 'after-answer'] as const
const ANSWERED = ['after-answer'] as const
const FLUSH = ['before-flush', 'after-flush'] as const
const PUBLISH = ['before-publish', 'after-publish'] as const
const START = ['before-start', 'after-start'] as const
const KILL = ['before-kill', 'after-kill'] as const

/** A command of the gateway: sent and confirmed, then answered. */
const ASK = [SEND, ANSWERED] as const
/** A message in the outbox: sent and confirmed, then deleted. */
const RELAY = [SEND, REMOVE] as const
/** A message in a queue: its effect is committed, then it is acknowledged. */
const HANDLE = [COMMIT, ACKNOWLEDGE] as const

/**
 * All failpoints: the way of a deployment, the service, the path in this service, and the moments. A path is a type of message or a
 * part of the work. The name of a failpoint is `SERVICE.PATH.MOMENT`.
 */
export const FAILPOINTS = {
  create: {
    gateway: { 'plan.create': ASK },
    planner: { 'plan.create': [ACKNOWLEDGE], 'deployment.start': [SEND] },
    dispatcher: { 'deployment.start': HANDLE, 'deployment.created': RELAY, 'pending.created': RELAY },
  },
  start: {
    dispatcher: { 'lease.changed': RELAY },
    'executor-bridge': {
      'lease.changed': [ACKNOWLEDGE],
      heartbeat: [COMMIT],
      'run-spec': [COMMIT],
      start: [ANSWER],
      attempt: [COMMIT, ANSWER],
    },
    'orchestration-instance': {
      sync: [SEND],
      'run-journal': [FLUSH],
      attempt: [FLUSH, SEND],
      command: [START],
    },
  },
  events: {
    'orchestration-instance': { events: [FLUSH, SEND] },
    'executor-bridge': { events: [COMMIT, PUBLISH, ANSWER], 'run.rolling_back': RELAY },
    dispatcher: { 'run.rolling_back': HANDLE },
  },
  finish: {
    'orchestration-instance': { end: [FLUSH, SEND], 'ended-journal': [REMOVE] },
    'executor-bridge': { end: [COMMIT, ANSWER], 'run.finished': RELAY },
    dispatcher: { 'run.finished': HANDLE, 'deployment.updated': RELAY },
  },
  cancel: {
    gateway: { 'deployment.cancel': ASK, 'pending.cancel': ASK },
    dispatcher: { 'deployment.cancel': HANDLE, 'pending.cancel': HANDLE, 'run.stopped': HANDLE },
    'executor-bridge': { stop: [ANSWER], 'run.stopped': [COMMIT, SEND, REMOVE] },
    'orchestration-instance': { 'stopped-run': [KILL], stopped: [SEND] },
  },
  drain: {
    gateway: { 'instance.update': ASK },
    'executor-bridge': { 'instance.update': HANDLE },
    dispatcher: { queue: [COMMIT], 'slot.freed': [SEND, REMOVE, ACKNOWLEDGE] },
  },
  takeover: {
    dispatcher: { 'lost-leases': [COMMIT], 'resumed-runs': [COMMIT] },
    'orchestration-instance': { 'restored-run': [START] },
  },
} as const

type Table = typeof FAILPOINTS

/** The paths of all services, each with its moments. */
type MomentOnPath = {
  [Way in keyof Table]: {
    [Service in keyof Table[Way]]: {
      [P in keyof Table[Way][Service]]: Table[Way][Service][P] extends readonly (readonly (infer M)[])[]
        ? [path: P, moment: M]
        : never
    }[keyof Table[Way][Service]]
  }[keyof Table[Way]]
}[keyof Table]

export type Path = MomentOnPath[0]
export type Moment = MomentOnPath[1]
export type MomentOf<P extends Path> = Extract<MomentOnPath, [P, unknown]>[1]
