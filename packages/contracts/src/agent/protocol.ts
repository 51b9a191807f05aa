import { type Static, Type } from '@sinclair/typebox'
import { INTERPRETERS } from '../api/catalog.ts'
import { RunFile } from '../instance/protocol.ts'
import { ContentId, literals, Nullable, Strict, Uuid } from '../schema.ts'

// ── Between an agent and the executor-bridge, over HTTP ──────────────────────────────────────────────────────────

const version = Type.String({ minLength: 1, maxLength: 100 })

/** What an agent tells of itself: instances find it at this address. */
const about = {
  version,
  host: Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9._:%-]+$' }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
}

/** With the token of a grant. */
export const AgentEnrolRequest = Strict(about)

export const AgentEnrolResponse = Strict({
  agent_id: Uuid,
  target_name: Type.String(),
  /** 32 bytes in base64, known to the agent and to the instances that run something on its target. */
  key: Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
  credential: Type.String({ minLength: 1, maxLength: 255 }),
  heartbeat_seconds: Type.Integer({ minimum: 1, maximum: 3_600 }),
})

export const AgentHeartbeatRequest = Strict(about)
export const AgentHeartbeatResponse = Strict({ heartbeat_seconds: Type.Integer({ minimum: 1, maximum: 3_600 }) })

// ── Between an orchestration instance and an agent, over HTTP in TLS under the agent's key ───────────────────────
//
//     PUT    /v1/content/{sha256}                 bytes that a command needs
//     PUT    /v1/commands/{id}                    AgentCommand → AgentAccepted; the same again changes nothing
//     GET    /v1/commands/{id}/output?from=N      frames from that offset on; waits for some. What is before N is forgotten
//     GET    /v1/commands/{id}                    somebody is still there for it
//     POST   /v1/commands/{id}/end                AgentEnd: TERM, and KILL after the grace, also to what older epochs left
//     DELETE /v1/commands/{id}                    its end is known to whoever asked for it
//
// A frame is its kind (one byte), the length of what follows (four, big-endian) and that. The last one is the end.

/** Forward secrecy, and a key that both sides hold instead of certificates. Node has such ciphers up to TLS 1.2. */
export const AGENT_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const

/** Which attempt of which step: `deployment.epoch.target.action.attempt`, and `.rollback` for a rollback script. */
export const AGENT_COMMAND_ID =
  /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,15})\.\d{1,9}\.\d{1,9}\.\d{1,9}(?:\.rollback)?$/

export const AgentCommand = Strict({
  /** Of the instance. */
  version,
  script: Type.String(),
  interpreter: literals(INTERPRETERS),
  environment: Type.Record(Type.String({ minLength: 1 }), Type.String()),
  working_directory: Nullable(Type.String({ minLength: 1, maxLength: 4_096 })),
  files: Type.Array(RunFile, { maxItems: 1_000 }),
  /** The agent kills it somewhat later, should the instance not have come through. */
  timeout_seconds: Nullable(Type.Number({ minimum: 0 })),
})

/** Answer to a command. A command that nobody asks about for so long is killed. */
export const AgentAccepted = Strict({ version, orphaned_after_seconds: Type.Number({ minimum: 1 }) })

export const AgentEnd = Strict({ grace_ms: Type.Number({ minimum: 0, maximum: 600_000 }) })

/** The content of the last frame. */
export const AgentCommandEnd = Strict({
  exit_code: Nullable(Type.Integer()),
  signal: Nullable(Type.String({ maxLength: 20 })),
  confirmed: Type.Boolean(),
  /** Why it did not start, or why the agent ended it by itself. */
  error: Nullable(Type.String({ maxLength: 4_000 })),
  /** The file for want of which it did not start. */
  content: Nullable(ContentId),
})

export const AGENT_ERRORS = ['VERSION', 'FENCED', 'MISSING_CONTENT', 'BUSY', 'NOT_FOUND', 'INVALID', 'DISK'] as const

/** A refusal. */
export const AgentRefusal = Strict({
  error: Strict({
    code: literals(AGENT_ERRORS),
    message: Type.String({ maxLength: 2_000 }),
    missing: Type.Optional(Type.Array(ContentId, { maxItems: 1_000 })),
  }),
})

export const AGENT_FRAMES = { stdout: 1, stderr: 2, end: 3 } as const
/** Before the content of a frame. */
export const AGENT_FRAME_HEAD = 5
export const AGENT_FRAME_LIMIT = 64 * 1024
/** The longest answer with output. */
export const AGENT_OUTPUT_LIMIT = 1024 * 1024
export const AGENT_COMMAND_LIMIT = 8 * 1024 * 1024

export type AgentEnrolRequest = Static<typeof AgentEnrolRequest>
export type AgentEnrolResponse = Static<typeof AgentEnrolResponse>
export type AgentHeartbeatRequest = Static<typeof AgentHeartbeatRequest>
export type AgentHeartbeatResponse = Static<typeof AgentHeartbeatResponse>
export type AgentCommand = Static<typeof AgentCommand>
export type AgentAccepted = Static<typeof AgentAccepted>
export type AgentEnd = Static<typeof AgentEnd>
export type AgentCommandEnd = Static<typeof AgentCommandEnd>
export type AgentRefusal = Static<typeof AgentRefusal>
