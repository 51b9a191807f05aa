import type { DeploymentState, StepState } from '@slipway/domain'

/** What clients of a log stream receive: one `data:` line each. */
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
        state: StepState
        exit_code: number | null
        error_message: string | null
        /** In the message that tells the end of a command that wrote something: the last 2,000 characters of it. */
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
        /** On the final one: how many lines the log has. */
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
  metadata: ({ seq: number } & Record<string, unknown>) | null
}

/** What changes can be listened to, at `/sse/{resource_type}`. */
export const STREAM_RESOURCES = ['deployments', 'pending', 'targets', 'instances', 'freezes'] as const
export type StreamResource = (typeof STREAM_RESOURCES)[number]

/** What clients of such a stream receive: one `data:` line each. */
export type ResourceStreamMessage =
  | { event: 'ping'; data: { type: 'ping' } }
  | {
      event: 'created' | 'updated' | 'deleted'
      data: {
        type: 'created' | 'updated' | 'deleted'
        resource_type: StreamResource
        id: string
        timestamp: string
        /** As the list shows it to this viewer; null when deleted. */
        resource: object | null
      }
    }

/**
 * A log line as stored in a chunk and as it travels through Redis. Keys are short because there are millions; its number
 * is the chunk's first line plus its place.
 */
export interface StoredLine {
  /** Milliseconds since 1970. */
  t: number
  /** Index of the target and of the action, where the line belongs to a step. */
  i: number | null
  a: number | null
  /** o: stdout, e: stderr, s: said by Slipway. */
  s: 'o' | 'e' | 's'
  l: 'info' | 'warning' | 'error'
  m: string
  x?: Record<string, unknown>
}

/**
 * One entry of a deployment's Redis stream (field `batch`): what one committed batch of events changed. Entries may come
 * late, twice, out of order or not at all; the numbers of events say which of them continues what a reader has.
 */
export interface StreamBatch {
  epoch: number
  /** Events of `epoch` from this one, up to but without `next_event`. */
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
    /** Of a command that ended and wrote something. */
    output?: string
  }[]
  completed_steps: number
  ended_steps: number
  total_steps: number
}

/** Key of a deployment's live stream in Redis. */
export const streamKey = (namespace: string, deploymentId: string) => `${namespace}:deployment:${deploymentId}:stream`

/** Key of an SSE token in Redis; tokens are kept by their hash. The value is a JSON `SseTokenRecord`. */
export const sseTokenKey = (namespace: string, tokenHash: string) => `${namespace}:sse-token:${tokenHash}`

/** Who an SSE token was given to. What they may see is looked up when it is used, and while its stream is open. */
export interface SseTokenRecord {
  user_id: string
  session_id: string
  credential: StreamCredential
}

/** What an SSE token was asked for with. It is good while that is, and while the user's `token_version` stays. */
export interface StreamCredential {
  kind: 'session' | 'api_key'
  id: string
  token_version: number
}

/** Kinds of record whose changes are sent to streams and webhooks. */
export const ITEM_KINDS = ['deployment', 'pending', 'target', 'freeze', 'instance'] as const
export type ItemKind = (typeof ITEM_KINDS)[number]
