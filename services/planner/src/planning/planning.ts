import type { CommandBody, CommandReply } from '@slipway/contracts'
import { type Database, readSubjects } from '@slipway/database'
import { openVariables } from '@slipway/database/read-models'
import {
  buildPlan,
  dependsOnScope,
  type FieldError,
  may,
  type Plan,
  type PlanTargetRecord,
  Problem,
  planSelector,
  type ResolvedSource,
  requireMay,
  resolveSource,
  type SelectedTargets,
  type Subject,
  secretLimitProblem,
  selectTargets,
  strictProblem,
  type TargetSummary,
  type TouchedByDeployment,
  targetSummary,
  validationProblem,
} from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { type EnvironmentRecord, loadEnvironments, loadTenant, type TenantRecord } from '../records/scope.ts'
import type { SensitiveNames } from '../records/sensitive-names.ts'
import { type LoadedSource, loadSource } from '../records/sources.ts'
import { loadTargets, type TargetCandidates, type TargetRecord } from '../records/targets.ts'
import { findInForce, type TargetInForce } from './in-force.ts'
import { type PoolSelection, scopeSelectors, selectingTarget } from './pools.ts'
import type { PlanningRequest } from './request.ts'
import { valuesHashes } from './values-hash.ts'

export interface PlanningResources {
  database: Database
  keyRing: KeyRing
  sensitiveNames: SensitiveNames
}

export interface Planned {
  outcome: 'planned'
  /** Whether the rights of the caller depend on what the plan touches. */
  has_scope: boolean
  /** With unsealed values, and with the hash of the values of each target. */
  plan: Plan
  /** What is in force now on the targets of the plan. Empty unless the request asks for it. */
  inForce: TargetInForce[]
  /** Targets with the same versions and values in force. Empty unless the request asks for it. */
  unchanged: { id: string; name: string }[]
  /** About the request itself. */
  warnings: string[]
  pools: PoolSelection
  /** With repeated ids, as the request has them. */
  selection: CommandBody<'deployment.start'>['selection']
  target_summary: TargetSummary
}

/** With `only_changed`: what the request asks for is in force on every target. */
export type Unchanged = Extract<CommandReply<'plan.create'>, { outcome: 'unchanged' }>

interface Records {
  source: LoadedSource | null
  targets: TargetCandidates
  tenant: TenantRecord | null
  environment: EnvironmentRecord | null
}

/** An id that names no record that the caller may see, with its place in the body. */
export type MissingRecord = { path: string; id: string }

/**
 * Makes the plan of a request from the records in the database. Writes nothing.
 * @param onMissing returns the error for records that do not exist
 * @param alsoMissing those that were looked up before
 * @throws Problem with everything that is wrong
 */
export async function planRequest(
  resources: PlanningResources,
  request: PlanningRequest,
  onMissing: (missing: MissingRecord[]) => Problem,
  alsoMissing: readonly MissingRecord[] = [],
): Promise<Planned | Unchanged> {
  const { database, keyRing } = resources
  const { caller, tenant_id, environment_id } = request
  const [[author = null], source, targets, tenant, [environment = null], sensitiveNames] = await database.together(
    (connection) =>
      Promise.all([
        readSubjects(connection, [{ user_id: caller.user_id, key_id: caller.key_id ?? null }]),
        loadSource(connection, keyRing, caller, {
          source: request.source,
          requirement: request.version_requirement,
          pins: request.pins?.versions,
        }),
        loadTargets(connection, caller, request),
        tenant_id === null ? null : loadTenant(connection, keyRing, caller, tenant_id),
        loadEnvironments(connection, keyRing, caller, environment_id === null ? [] : [environment_id]),
        resources.sensitiveNames.read(connection),
      ]),
  )
  const records: Records = { source, targets, tenant, environment }
  const missing = [...missingOf(request, records), ...alsoMissing]
  if (missing.length > 0 || source === null) throw onMissing(missing)

  if (request.pins !== undefined && request.pins.source_id !== source.id) {
    const message = `is a deployment of another source than this ${request.source.type}`
    throw validationProblem([{ path: '/versions_of', message }])
  }

  const selection = selectionOf(request, targets)
  const selected = selectTargets(targets.records, selection, {
    tenant_id: tenant?.id ?? null,
    environment_id: environment?.id ?? null,
  })
  const resolved = resolve(request, source, selected)
  const environments = environment === null ? await environmentsOf(resources, caller, selected.targets) : null
  const build = (chosen: readonly TargetRecord[]) =>
    buildPlan({
      command_id: request.command_id,
      source: resolved,
      targets: chosen.map((target) => planTarget(keyRing, target, environments)),
      tenant,
      environment,
      request: request.options,
      problems: selected.problems,
    })
  const whole = build(selected.targets)
  const asksInForce = request.only_changed || request.compare
  const namesIn = (plan: Plan) =>
    new Set([...sensitiveNames(plan.tenant?.id ?? null), ...(request.sensitive ?? []), ...plan.sensitive])
  const secrets = namesIn(whole.plan)
  const guesses = request.given_names.some((name) => secrets.has(name))
  const found = asksInForce ? await findInForce(database, keyRing, caller, { plan: whole.plan, guesses }) : []
  const unchanged = found.filter((target) => target.unchanged)
  const leftOut = new Set(request.only_changed ? unchanged.map(({ id }) => id) : [])
  const chosen = selected.targets.filter(({ id }) => !leftOut.has(id))
  const deployed = chosen.length === 0 ? selected.targets : chosen
  const deploying = touchedBy({ source: resolved, environment, targets: deployed })
  for (const touched of [deploying, ...(request.repeats === undefined ? [] : [request.repeats])]) {
    await requireMayDeploy(resources, caller, { author, touched, source: resolved })
  }
  if (chosen.length === 0) return nothingChanges(resolved, unchanged)
  const built = leftOut.size === 0 ? whole : build(chosen)
  if (request.strict && built.request_warnings.length > 0) throw strictProblem(built.request_warnings)
  const scope = scopeSelectors(tenant, environment)
  const selecting = chosen.map(selectingTarget)
  const instance_selector = planSelector(scope, selecting)
  const named = withSensitiveNames(built.plan, namesIn(built.plan))
  const tooManySecrets = secretLimitProblem(named)
  if (tooManySecrets !== null) throw validationProblem([tooManySecrets])
  const plan = {
    ...withValuesHashes(keyRing, named),
    ...(instance_selector === null ? {} : { instance_selector }),
  }
  return {
    outcome: 'planned',
    has_scope: author !== null && dependsOnScope(author),
    plan,
    inForce: found.filter(({ id }) => !leftOut.has(id)),
    unchanged: unchanged.map(({ id, name }) => ({ id, name })),
    warnings: built.warnings,
    pools: { scope, targets: selecting },
    selection: {
      target_ids: selection.target_ids,
      target_tags: [...request.target_tags],
      target_tags_match_all: request.target_tags_match_all,
      version_requirement: request.version_requirement ?? null,
      ...(request.only_changed ? { unchanged_target_ids: [...leftOut] } : {}),
    },
    target_summary: targetSummary(
      chosen,
      namesOf(environment === null ? (environments?.values() ?? []) : [environment]),
    ),
  }
}

/**
 * Requires that the caller may deploy this, by the rights of now.
 * @throws Problem FORBIDDEN, INSUFFICIENT_PERMISSIONS with the names of what the deployment touches
 */
async function requireMayDeploy(
  { database, keyRing }: PlanningResources,
  caller: PlanningRequest['caller'],
  { author, touched, source }: { author: Subject | null; touched: TouchedByDeployment; source: ResolvedSource },
): Promise<void> {
  if (author === null) throw new Problem('FORBIDDEN', 'The account is not active, or its API key was revoked')
  if (may(author, 'deployments:create', touched).allowed) return
  const environments = await loadEnvironments(database, keyRing, caller, touched.environment_ids)
  requireMay(author, 'deployments:create', touched, {
    environments: environments.map(({ id, name }) => ({ id, name })),
    source: { type: source.type, id: source.id, name: source.name },
  })
}

interface Deployed {
  source: ResolvedSource
  environment: EnvironmentRecord | null
  targets: readonly TargetRecord[]
}

function touchedBy({ source, environment, targets }: Deployed): TouchedByDeployment {
  const ids = [environment?.id, ...targets.map(({ environment_id }) => environment_id)]
  const environment_ids = [...new Set(ids.filter((id) => id !== undefined && id !== null))]
  return { kind: 'deployment', environment_ids, source }
}

function nothingChanges({ name, version }: ResolvedSource, unchanged: readonly { id: string }[]): Unchanged {
  return {
    outcome: 'unchanged',
    message: `Every target has ${name} ${version} with these values already: leave only_changed out to deploy it again`,
    unchanged_target_ids: unchanged.map(({ id }) => id),
  }
}

function withValuesHashes(keyRing: KeyRing, plan: Plan): Plan {
  const hashes = valuesHashes(keyRing, plan)
  const targets = plan.targets.map((target, index) => {
    const values_hash = hashes[index]
    return values_hash === undefined ? target : { ...target, values_hash }
  })
  return { ...plan, targets }
}

/** All missing records of the request, so that the caller learns of all at once. */
function missingOf(request: PlanningRequest, { source, targets, tenant, environment }: Records): MissingRecord[] {
  const missing: MissingRecord[] = []
  if (source === null) missing.push({ path: `/${request.source.type}_id`, id: request.source.id })
  request.target_ids.forEach((id, index) => {
    if (targets.uuids[index] === undefined) missing.push({ path: `/target_ids/${index}`, id })
  })
  if (request.tenant_id !== null && tenant === null) missing.push({ path: '/tenant_id', id: request.tenant_id })
  if (request.environment_id !== null && environment === null) {
    missing.push({ path: '/environment_id', id: request.environment_id })
  }
  return missing
}

/** Only for a request with all ids found. */
function selectionOf(request: PlanningRequest, { uuids }: TargetCandidates) {
  return {
    target_ids: uuids as string[],
    target_tags: request.target_tags,
    match_all: request.target_tags_match_all,
  }
}

/** Reports problems of versions together with problems of targets. */
function resolve(
  request: PlanningRequest,
  source: LoadedSource,
  selected: SelectedTargets<TargetRecord>,
): ResolvedSource {
  const { type } = request.source
  try {
    return resolveSource({ type, id: source.id }, request.version_requirement, source.catalog, request.pins?.versions)
  } catch (error) {
    const errors = error instanceof Problem && error.code === 'VALIDATION_ERROR' ? error.details?.['errors'] : undefined
    if (errors === undefined) throw error
    throw validationProblem([...(errors as FieldError[]), ...selected.problems])
  }
}

type Environments = ReadonlyMap<string, EnvironmentRecord>

const namesOf = (environments: Iterable<EnvironmentRecord>) =>
  new Map([...environments].map(({ id, name }) => [id, name]))

/** The environments of the targets, by id. They count for a request that names none. */
async function environmentsOf(
  { database, keyRing }: PlanningResources,
  caller: PlanningRequest['caller'],
  targets: readonly TargetRecord[],
): Promise<Environments> {
  const ids = new Set(targets.flatMap(({ environment_id }) => environment_id ?? []))
  const found = await loadEnvironments(database, keyRing, caller, [...ids])
  return new Map(found.map((environment) => [environment.id, environment]))
}

function planTarget(keyRing: KeyRing, target: TargetRecord, environments: Environments | null): PlanTargetRecord {
  const { id, name, status, awaits_probe, environment_id } = target
  const { values, sensitive } = openVariables(keyRing, 'target', target)
  const environment = environments?.get(environment_id ?? '') ?? null
  return { id, name, status, awaits_probe, variables: values, sensitive, environment }
}

/** Adds the names that have a value in the plan. */
function withSensitiveNames(plan: Plan, names: ReadonlySet<string>): Plan {
  const layers = [
    plan.shared_variables,
    plan.override_variables,
    ...plan.actions.map(({ variables }) => variables),
    ...plan.targets.map(({ variables }) => variables),
  ]
  const sensitive = new Set(plan.sensitive)
  for (const layer of layers) for (const name of Object.keys(layer)) if (names.has(name)) sensitive.add(name)
  return { ...plan, sensitive: [...sensitive] }
}
