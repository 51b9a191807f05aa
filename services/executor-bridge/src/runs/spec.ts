import type { RunAction, RunConnection, RunSpec, RunTarget } from '@slipway/contracts'
import { type ActionFile, DEFAULT_FILE_MODE, plainFilePath } from '@slipway/domain'
import { currentTraceparent, type KeyRing } from '@slipway/runtime'
import { keyIdentity } from '../agents/credentials.ts'
import type { ActionRecord, LeasedRun, StepRecord, TargetRecord } from '../targets/records.ts'
import { sshConnection } from '../targets/ssh-connection.ts'
import { openValues } from './secrets.ts'

export interface RunRecords {
  actions: ActionRecord[]
  targets: TargetRecord[]
  steps: StepRecord[]
}

/** The run can never be handed over; the message says why and ends up as the deployment's error. */
export class CannotRun extends Error {
  override name = 'CannotRun'
}

/**
 * Everything an instance needs, secrets in clear: it is sent and forgotten, never logged or stored.
 * Throws CannotRun when something of it is gone, SecretError when a secret cannot be opened.
 */
export function buildSpec(keys: KeyRing, run: LeasedRun, records: RunRecords): RunSpec {
  const { plan_head: head } = run
  const open = (values: Record<string, unknown>) => openValues(keys, values, head.sealed_under)
  const rollingBack = run.state === 'rolling_back' || records.steps.some(({ state }) => ROLLBACK_STATES.has(state))
  return {
    deployment_id: run.deployment_id,
    epoch: run.epoch,
    request_id: run.request_id,
    ...specTrace(),
    options: head.options,
    remaining_seconds: run.remaining_seconds,
    actions: records.actions.map((action) => specAction(action, open)),
    targets: records.targets.map((target) => specTarget(keys, target, open)),
    shared_variables: open(head.shared_variables),
    override_variables: open(head.override_variables),
    sensitive: head.sensitive,
    phase: rollingBack ? 'rolling_back' : 'running',
    steps: records.steps.map(specStep),
    first_line: run.next_line,
  }
}

/** Nothing where there is none: an instance of the version before knows no traces. */
function specTrace(): Pick<RunSpec, 'traceparent'> {
  const traceparent = currentTraceparent()
  return traceparent === null ? {} : { traceparent }
}

type Open = (values: Record<string, unknown>) => Record<string, unknown>

function specAction(action: ActionRecord, open: Open): RunAction {
  const { definition } = action
  if (definition === null) {
    throw new CannotRun(`Version ${action.action_version} of action "${action.action_name}" no longer exists`)
  }
  return {
    name: action.action_name,
    sequence_name: action.sequence_name,
    script: definition.script,
    rollback_script: definition.rollback?.script ?? null,
    interpreter: definition.interpreter ?? 'sh',
    working_directory: definition.working_directory ?? null,
    ...specFiles(definition.files),
    env: definition.env ?? {},
    timeout_seconds: action.timeout_seconds,
    max_retries: action.max_retries,
    variables: open(action.variables),
  }
}

/** Nothing where there are none: an instance of the version before knows no files. */
function specFiles(files: ActionFile[] = []): Pick<RunAction, 'files'> {
  if (files.length === 0) return {}
  return {
    files: files.map(({ content, path, mode = DEFAULT_FILE_MODE }) => ({
      content,
      path: plainFilePath(path) ?? path,
      mode,
    })),
  }
}

function specTarget(keys: KeyRing, target: TargetRecord, open: Open): RunTarget {
  return {
    id: target.id,
    name: target.name,
    connection: specConnection(keys, target),
    variables: open(target.variables),
  }
}

function specConnection(keys: KeyRing, target: TargetRecord): RunConnection {
  const { connection } = target
  if (connection === null) throw new CannotRun(`Target "${target.name}" no longer exists`)
  if (connection.type === 'agent') return { type: 'agent', agent: specAgent(keys, target) }
  if (connection.type !== 'ssh') return connection
  return sshConnection(keys, { ...target, connection })
}

function specAgent(keys: KeyRing, { agent }: TargetRecord) {
  if (agent === null) return null
  const { id, host, port, key_sealed } = agent
  return { id, host, port, key: keys.open(key_sealed, keyIdentity(id)).toString('base64') }
}

const ROLLBACK_STATES = new Set(['rolling_back', 'rolled_back', 'rollback_failed'])

function specStep(step: StepRecord): RunSpec['steps'][number] {
  const { target, action, retry_count } = step
  switch (step.state) {
    case 'running':
      // Whoever gives a new lease decides first what became of such a step.
      throw new Error(`step ${target}/${action} still counts as running under an earlier epoch`)
    case 'rolling_back':
      // Undone again from its beginning: how far the lost instance came is not known.
      return { target, action, retry_count, state: step.ever_failed ? 'failed' : 'completed' }
    default:
      return { target, action, retry_count, state: step.state }
  }
}
