import type { RunAction, RunConnection, RunSpec, RunTarget } from '@slipway/contracts'
import { openPlanValues } from '@slipway/database/read-models'
import {
  type ActionFile,
  DEFAULT_FILE_MODE,
  type Plan,
  type PlannedAction,
  type PlannedTarget,
  type PublishedAction,
  plainFilePath,
  type VariableValues,
} from '@slipway/domain'
import { currentTraceparent, type KeyRing } from '@slipway/runtime'
import { keyIdentity } from '../agents/credentials.ts'
import type { LeasedRun, StepRecord, StoredConnection, TargetAccess } from '../targets/records.sql.ts'
import { sshConnection } from '../targets/ssh-connection.ts'

export interface RunRecords {
  plan: Plan
  /** Of each action; null if the version is gone. */
  definitions: (PublishedAction | null)[]
  /** To each target. */
  access: TargetAccess[]
  steps: StepRecord[]
}

/** The run can never start. The message says why, and becomes the error of the deployment. */
export class CannotRun extends Error {
  override name = 'CannotRun'
}

/**
 * Everything that an instance needs, with secrets in clear: never log or store it.
 * @throws CannotRun if a record is gone, SecretError if a secret cannot be opened
 */
export function buildSpec(keys: KeyRing, run: LeasedRun, { plan, definitions, access, steps }: RunRecords): RunSpec {
  const open = (values: VariableValues) => openPlanValues(keys, plan, values)
  const rollingBack = run.state === 'rolling_back' || steps.some(({ state }) => ROLLBACK_STATES.has(state))
  return {
    deployment_id: run.deployment_id,
    epoch: run.epoch,
    request_id: run.request_id,
    source: { name: plan.source.name, version: plan.source.version },
    ...specTrace(),
    options: plan.options,
    remaining_seconds: run.remaining_seconds,
    actions: plan.actions.map((action, index) =>
      specAction(action, definitions[index] ?? null, { open, isCheck: run.is_check }),
    ),
    targets: plan.targets.map((target, index) => specTarget(keys, target, access[index], { plan, open })),
    shared_variables: open(plan.shared_variables),
    override_variables: open(plan.override_variables),
    sensitive: plan.sensitive,
    phase: rollingBack ? 'rolling_back' : 'running',
    steps: steps.map(specStep),
    first_line: run.next_line,
  }
}

function specTrace(): Pick<RunSpec, 'traceparent'> {
  const traceparent = currentTraceparent()
  return traceparent === null ? {} : { traceparent }
}

type Open = (values: VariableValues) => VariableValues

interface ActionContext {
  open: Open
  /** Whether the run executes the checks of the actions. */
  isCheck: boolean
}

function specAction(
  action: PlannedAction,
  definition: PublishedAction | null,
  { open, isCheck }: ActionContext,
): RunAction {
  if (definition === null) {
    throw new CannotRun(`Version ${action.action_version} of action "${action.action_name}" no longer exists`)
  }
  return {
    name: action.action_name,
    sequence_name: action.sequence_name,
    ...(isCheck ? checkScripts(action, definition) : scripts(definition)),
    working_directory: definition.working_directory ?? null,
    ...specFiles(definition.files),
    env: definition.env ?? {},
    timeout_seconds: action.timeout_seconds,
    max_retries: action.max_retries,
    variables: open(action.variables),
  }
}

type Scripts = Pick<RunAction, 'script' | 'template' | 'rollback_script' | 'rollback_template' | 'interpreter'>

const scripts = ({ script, rollback, interpreter = 'sh', places }: PublishedAction): Scripts => ({
  script,
  template: places?.script ?? null,
  rollback_script: rollback?.script ?? null,
  rollback_template: places?.rollback ?? null,
  interpreter,
})

function checkScripts(action: PlannedAction, { check, interpreter = 'sh', places }: PublishedAction): Scripts {
  if (check === undefined) throw new CannotRun(`Action "${action.action_name}" declares no check`)
  return {
    script: check.script,
    template: places?.check ?? null,
    rollback_script: null,
    rollback_template: null,
    interpreter: check.interpreter ?? interpreter,
  }
}

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

function specTarget(
  keys: KeyRing,
  { id, name, variables }: PlannedTarget,
  access: TargetAccess | undefined,
  { plan, open }: { plan: Plan; open: Open },
): RunTarget {
  if (!access?.connection) throw new CannotRun(`Target "${name}" no longer exists`)
  return {
    id,
    name,
    connection: specConnection(keys, id, access, access.connection),
    environment: plan.environment?.name ?? access.environment,
    variables: open(variables),
  }
}

function specConnection(keys: KeyRing, id: string, access: TargetAccess, connection: StoredConnection): RunConnection {
  if (connection.type === 'agent') return { type: 'agent', agent: specAgent(keys, access) }
  if (connection.type !== 'ssh') return connection
  return sshConnection(keys, { ...access, id, connection })
}

function specAgent(keys: KeyRing, { agent }: TargetAccess) {
  if (agent === null) return null
  const { id, host, port, key_sealed } = agent
  return { id, host, port, key: keys.open(key_sealed, keyIdentity(id)).toString('base64') }
}

const ROLLBACK_STATES = new Set(['rolling_back', 'rolled_back', 'rollback_failed'])

function specStep(step: StepRecord): RunSpec['steps'][number] {
  const { target, action, retry_count } = step
  switch (step.state) {
    case 'running':
      // The dispatcher resolves such a step before it gives a new lease.
      throw new Error(`step ${target}/${action} still counts as running under an earlier epoch`)
    case 'rolling_back':
      // The rollback starts again, because the progress of the lost instance is unknown.
      return { target, action, retry_count, state: step.ever_failed ? 'failed' : 'completed' }
    default:
      return { target, action, retry_count, state: step.state }
  }
}
