const COMMIT = ['before-commit', 'after-commit'] as const
const SEND = ['before-send', 'after-send'] as const
const REMOVE = ['before-removal', 'after-removal'] as const
const ACKNOWLEDGE = ['before-acknowledge', 'after-acknowledge'] as const
const ANSWERED = ['after-answer'] as const
const FLUSH = ['before-flush', 'after-flush'] as const

/** A command of the gateway: sent and confirmed, then answered. */
const ASK = [SEND, ANSWERED] as const
/** A message in the outbox: sent and confirmed, then deleted. */
const RELAY = [SEND, REMOVE] as const
/** The same, and before it the transaction that puts the message into the outbox. */
const STORE = [COMMIT, SEND, REMOVE] as const
/** A message in a queue: its effect is committed, then it is acknowledged. */
const HANDLE = [COMMIT, ACKNOWLEDGE] as const

/**
 * All failpoints: the way of a deployment, the service, the path in this service, and the moments. The name of a failpoint is
 * `SERVICE.PATH.MOMENT`. The path of a send, removal or acknowledge is the type of the message. The path of a flush is the type of an event
 * in the journal, or the journal. A commit has several paths: the type of the message that is being handled, the types of the messages that
 * it puts into the outbox, and the names of its statements that wrote or found a row, without their first part.
 */
export const FAILPOINTS = {
  create: {
    gateway: { 'plan.create': ASK },
    planner: { 'plan.create': [ACKNOWLEDGE], 'deployment.start': [SEND] },
    dispatcher: { 'deployment.start': [ACKNOWLEDGE], 'deployment.created': STORE, 'pending.created': STORE },
  },
  start: {
    dispatcher: { 'lease.changed': RELAY },
    'executor-bridge': {
      'lease.changed': [ACKNOWLEDGE],
      'instances.note-heartbeat': [COMMIT],
      'progress.open': [COMMIT],
      'steps.move': [COMMIT],
    },
    'orchestration-instance': { 'run-journal': [FLUSH], step_started: [FLUSH] },
  },
  events: {
    'orchestration-instance': { log: [FLUSH], step_ended: [FLUSH], rolling_back: [FLUSH], rollback_started: [FLUSH] },
    'executor-bridge': { 'progress.save': [COMMIT], 'run.rolling_back': STORE },
    dispatcher: { 'run.rolling_back': HANDLE },
  },
  finish: {
    'orchestration-instance': { finished: [FLUSH], 'ended-journal': [REMOVE] },
    'executor-bridge': { 'run.finished': STORE },
    dispatcher: { 'run.finished': HANDLE, 'deployment.updated': RELAY },
  },
  cancel: {
    gateway: { 'deployment.cancel': ASK, 'pending.cancel': ASK },
    dispatcher: {
      'deployment.cancel': HANDLE,
      'pending.cancel': HANDLE,
      'run.stopped': [ACKNOWLEDGE],
      'deployments.note-stopped': [COMMIT],
    },
    'executor-bridge': { 'run.stopped': STORE },
  },
  drain: {
    gateway: { 'instance.update': ASK },
    'executor-bridge': { 'instance.update': HANDLE },
    dispatcher: { 'pending-requests.dispatch': [COMMIT], 'slot.freed': [SEND, REMOVE, ACKNOWLEDGE] },
  },
  takeover: {
    dispatcher: { 'runs.end-lost-leases': [COMMIT], 'runs.lock-orphans': [COMMIT] },
    'orchestration-instance': { 'restored-journal': [FLUSH] },
  },
} as const

type Table = typeof FAILPOINTS

export type Moment = {
  [Way in keyof Table]: {
    [Service in keyof Table[Way]]: {
      [Path in keyof Table[Way][Service]]: Table[Way][Service][Path] extends readonly (readonly (infer M)[])[]
        ? M
        : never
    }[keyof Table[Way][Service]]
  }[keyof Table[Way]]
}[keyof Table]
