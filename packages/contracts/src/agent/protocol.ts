import { type Static, Type } from '@sinclair/typebox'
import { INTERPRETERS } from '../api/catalog.ts'
import { failureReason, RunFile } from '../instance/protocol.ts'
import { ContentId, literals, Nullable, Strict, Uuid } from '../schema.ts'

// ── Between an agent and the executor-bridge, over HTTP ──────────────────────────────────────────────────────────

const version = Type.String({ minLength: 1, maxLength: 100 })

/** The version of the agent, and the address at which instances reach it. */
const agentAddress = {
  version,
  host: Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9._:%-]+$' }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
}

/** Sent with the token of a grant. */
export const AgentEnrolRequest = Strict(agentAddress)

export const AgentEnrolResponse = Strict({
  agent_id: Uuid,
  target_name: Type.String(),
  /** 32 bytes in base64. The agent and the instances with runs on its target know the key. */
  key: Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
  credential: Type.String({ minLength: 1, maxLength: 255 }),
  heartbeat_seconds: Type.Integer({ minimum: 1, maximum: 3_600 }),
})

export const AgentHeartbeatRequest = Strict(agentAddress)
export const AgentHeartbeatResponse = Strict({ heartbeat_seconds: Type.Integer({ minimum: 1, maximum: 3_600 }) })

// ── Between an orchestration instance and an agent, over HTTP in TLS under the agent's key ───────────────────────
//
//     PUT    /v1/content/{sha256}                 bytes that a command needs
//     PUT    /v1/commands/{id}                    AgentCommand → AgentAccepted; a repeated call changes nothing
//     GET    /v1/commands/{id}/output?from=N      frames from offset N; waits for output. The agent drops frames before N
//     GET    /v1/commands/{id}                    keeps the command from being killed as orphaned
//     POST   /v1/commands/{id}/end                AgentEnd: TERM, and KILL after the grace; also for commands of older epochs
//     DELETE /v1/commands/{id}                    confirms that the instance knows the end of the command
//
// A frame: kind (1 byte), length of the content (4 bytes, big-endian), content. The last frame is the end of the command.

/** A pre-shared key instead of certificates, with forward secrecy. Node has such ciphers only up to TLS 1.2. */
export const AGENT_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const

/** `deployment.epoch.target.action.attempt`, and `.rollback` for a rollback script. */
export const AGENT_COMMAND_ID =
  /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,15})\.\d{1,9}\.\d{1,9}\.\d{1,9}(?:\.rollback)?$/

export const AgentCommand = Strict({
  /** The version of the instance. */
  version,
  script: Type.String(),
  interpreter: literals(INTERPRETERS),
  environment: Type.Record(Type.String({ minLength: 1 }), Type.String()),
  working_directory: Nullable(Type.String({ minLength: 1, maxLength: 4_096 })),
  files: Type.Array(RunFile, { maxItems: 1_000 }),
  /** The instance ends the command at this timeout. The agent does so somewhat later, if the instance cannot reach it. */
  timeout_seconds: Nullable(Type.Number({ minimum: 0 })),
})

/** The agent kills a command about which no instance asks for `orphaned_after_seconds`. */
export const AgentAccepted = Strict({ version, orphaned_after_seconds: Type.Number({ minimum: 1 }) })

export const AgentEnd = Strict({ grace_ms: Type.Number({ minimum: 0, maximum: 600_000 }) })

/** The content of the last frame. */
export const AgentCommandEnd = Strict({
  exit_code: Nullable(Type.Integer()),
  signal: Nullable(Type.String({ maxLength: 20 })),
  confirmed: Type.Boolean(),
  /** Why the command did not start, or why the agent ended it. */
  error: Nullable(Type.String({ maxLength: 4_000 })),
  ...failureReason,
  /** How many processes of its group were killed after its end; null if the number is not known. Absent if there were none. */
  leftovers: Type.Optional(Nullable(Type.Integer({ minimum: 0 }))),
  /** The missing content that kept the command from starting. */
  content: Nullable(ContentId),
})

export const AGENT_ERRORS = ['VERSION', 'FENCED', 'MISSING_CONTENT', 'BUSY', 'NOT_FOUND', 'INVALID', 'DISK'] as const

export const AgentRefusal = Strict({
  error: Strict({
    code: literals(AGENT_ERRORS),
    message: Type.String({ maxLength: 2_000 }),
    missing: Type.Optional(Type.Array(ContentId, { maxItems: 1_000 })),
  }),
})

export const AGENT_FRAMES = { stdout: 1, stderr: 2, end: 3 } as const
/** Bytes before the content of a frame. */
export const AGENT_FRAME_HEAD = 5
export const AGENT_FRAME_LIMIT = 64 * 1024
/** Bytes of the longest answer with output. */
export const AGENT_OUTPUT_LIMIT = 1024 * 1024
/** Variables have 1 MiB. Escaped as JSON and for a script in Python, each of their bytes may become 17. */
export const AGENT_COMMAND_LIMIT = 32 * 1024 * 1024

export type AgentEnrolRequest = Static<typeof AgentEnrolRequest>
export type AgentEnrolResponse = Static<typeof AgentEnrolResponse>
export type AgentHeartbeatRequest = Static<typeof AgentHeartbeatRequest>
export type AgentHeartbeatResponse = Static<typeof AgentHeartbeatResponse>
export type AgentCommand = Static<typeof AgentCommand>
export type AgentAccepted = Static<typeof AgentAccepted>
export type AgentEnd = Static<typeof AgentEnd>
export type AgentCommandEnd = Static<typeof AgentCommandEnd>
export type AgentRefusal = Static<typeof AgentRefusal>
