import type { DeploymentState, StepState } from '@slipway/domain'

/** A message of a log stream: one `data:` line. */
export type LogStreamMessage =
  | { event: 'ping'; data: { type: 'ping' } }
  | { event: 'log'; data: { type: 'log'; log: StreamLog } }
  | {
      event: 'progress'
      data: {
        type: 'progress'
        deployment_id: string
        progress: number
        completed_steps: number
        total_steps: number
        message: string | null
      }
    }
  | {
      event: 'step_update'
      data: {
        type: 'step_update'
        step_id: string
        /** Null if retention has deleted the deployment meanwhile. */
        action_version: string | null
        state: StepState
        exit_code: number | null
        error_message: string | null
        /** The last 2,000 characters of the output, in the message about the end of a command with output. */
        output: string | null
      }
    }
  | {
      event: 'state_change'
      data: {
        type: 'state_change'
        deployment_id: string
        old_state: DeploymentState | ''
        new_state: DeploymentState
        message: string
        /** The number of log lines, in the last message. */
        log_lines?: number
      }
    }

export interface StreamLog {
  timestamp: string
  level: string
  step_id: string | null
  target_id: string | null
  target_name: string | null
  message: string
  /** `seq` is the number of the line. A partial line is not finished: it has no number, and the next one of its step replaces it. */
  metadata: (({ seq: number; partial?: never } | { partial: true; seq?: never }) & Record<string, unknown>) | null
}

/** The resource types of change streams, at `/sse/{resource_type}`. */
export const STREAM_RESOURCES = ['deployments', 'pending', 'targets', 'instances', 'freezes', 'releases'] as const
export type StreamResource = (typeof STREAM_RESOURCES)[number]

/** A message of a change stream: one `data:` line. */
export type ResourceStreamMessage =
  | { event: 'ping'; data: { type: 'ping' } }
  | {
      event: 'created' | 'updated' | 'deleted'
      data: {
        type: 'created' | 'updated' | 'deleted'
        resource_type: StreamResource
        id: string
        timestamp: string
        /** The list item for this viewer; null if deleted. */
        resource: object | null
      }
    }

/**
 * A log line in Postgres and in Redis. Keys are short, because there are millions of lines. The number of a line is the first
 * line of its chunk plus its index.
 */
export interface StoredLine {
  /** Milliseconds since 1970. */
  t: number
  /** The indices of target (`i`) and action (`a`), if the line belongs to a step. */
  i: number | null
  a: number | null
  /** o: stdout, e: stderr, s: a sentence of Slipway. */
  s: 'o' | 'e' | 's'
  l: 'info' | 'warning' | 'error'
  m: string
  x?: Record<string, unknown>
}

/**
 * An entry of the Redis stream of a deployment (field `batch`): the changes of one committed batch of events. Entries may arrive
 * late, twice, out of order or never. Readers use the numbers of the events to find the next entry.
 */
export interface StreamBatch {
  epoch: number
  /** The first event of the batch. `next_event` is the first event after it. */
  first_event: number
  next_event: number
  first_line: number
  lines: StoredLine[]
  steps: {
    target: number
    action: number
    state: StepState
    exit_code: number | null
    error_message: string | null
    /** Only for a command that ended and had output. */
    output?: string
  }[]
  completed_steps: number
  ended_steps: number
  total_steps: number
}

/**
 * An entry of the same stream (field `partial`): unfinished lines of commands. They are not stored. `n` is the number that the next
 * line of the deployment had.
 */
export type StreamPartialLine = Omit<StoredLine, 'i' | 'a'> & { i: number; a: number; n: number }

/** Permissions are not part of this: log-stream reads them when the token is used, and while the stream is open. */
export interface SseTokenRecord {
  user_id: string
  session_id: string
  credential: StreamCredential
}

/** The credential of the request for the SSE token. The token is valid as long as this and the `token_version` of the user. */
export interface StreamCredential {
  kind: 'session' | 'api_key'
  id: string
  token_version: number
}

/** Change streams and webhooks report changes of these records. */
export const ITEM_KINDS = ['deployment', 'pending', 'target', 'freeze', 'instance', 'release'] as const
export type ItemKind = (typeof ITEM_KINDS)[number]
