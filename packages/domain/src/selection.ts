import { type FieldError, pointer } from './problem.ts'

export interface TargetTag {
  key: string
  value: string
}

export interface TargetCandidate {
  id: string
  name: string
  tags: readonly TargetTag[] | null
  enabled: boolean
  tenant_id?: string | null
  environment_id?: string | null
}

export interface TargetSelection {
  target_ids?: readonly string[]
  target_tags?: readonly TargetTag[]
  /** true: a target must carry all the tags; otherwise any one of them. */
  match_all?: boolean
}

/** What is deployed for whom and where; absent means that the candidates are not checked against it. */
export interface TargetScope {
  tenant_id: string | null
  environment_id: string | null
}

export interface SelectedTargets<T> {
  /** Each once: those given by id in that order, then those found by tag, by name. */
  targets: T[]
  problems: FieldError[]
  /** Ids that are none of the candidates'. */
  missing: { path: string; id: string }[]
}

/**
 * Chooses targets by id, by tag, or both (their union). Tags pass over targets that are disabled or of another tenant
 * or environment; naming such a target by id is a problem.
 * @param candidates by id
 */
export function selectTargets<T extends TargetCandidate>(
  candidates: ReadonlyMap<string, T>,
  selection: TargetSelection,
  scope?: TargetScope,
): SelectedTargets<T> {
  const chosen = new Map<string, T>()
  const result: SelectedTargets<T> = { targets: [], problems: [], missing: [] }
  const { target_ids: ids = [], target_tags: tags = [], match_all: matchAll = false } = selection

  if (ids.length === 0 && tags.length === 0) {
    result.problems.push({ path: '/target_ids', message: 'give target_ids, target_tags or both' })
  }
  ids.forEach((id, index) => {
    const target = candidates.get(id)
    const misfit = target && misfitOf(target, scope)
    if (!target) result.missing.push({ path: pointer('target_ids', index), id })
    else if (misfit) {
      result.problems.push({ path: pointer('target_ids', index), message: `target "${target.name}" ${misfit}` })
    } else chosen.set(id, target)
  })
  if (tags.length > 0) {
    const found = [...candidates.values()].filter(
      (target) => misfitOf(target, scope) === null && hasTags(target, tags, matchAll),
    )
    if (found.length === 0) result.problems.push({ path: '/target_tags', message: 'no enabled target has these tags' })
    for (const target of found.sort(byName)) chosen.set(target.id, target)
  }
  result.targets = [...chosen.values()]
  return result
}

function misfitOf(target: TargetCandidate, scope: TargetScope | undefined): string | null {
  if (!target.enabled) return 'is disabled'
  const { tenant_id: tenantId = null, environment_id: environmentId = null } = target
  if (scope && tenantId !== null && tenantId !== scope.tenant_id) return 'is of another tenant'
  // A deployment that names no environment may go to targets of any.
  if (scope?.environment_id && environmentId !== null && environmentId !== scope.environment_id) {
    return 'is of another environment'
  }
  return null
}

function hasTags(target: TargetCandidate, tags: readonly TargetTag[], all: boolean): boolean {
  const carries = ({ key, value }: TargetTag) => target.tags?.some((tag) => tag.key === key && tag.value === value)
  return all ? tags.every(carries) : tags.some(carries)
}

// By code unit, so that the order is the same on every machine; names may repeat across tenants, ids do not.
function byName(a: TargetCandidate, b: TargetCandidate): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.id < b.id ? -1 : 1
}
