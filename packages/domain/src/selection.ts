import { type FieldError, pointer } from './problem.ts'

export interface TargetTag {
  key: string
  value: string
}

interface TargetCandidate {
  id: string
  name: string
  tags: readonly TargetTag[] | null
  enabled: boolean
  tenant_id?: string | null
  environment_id?: string | null
}

interface TargetSelection {
  target_ids?: readonly string[]
  target_tags?: readonly TargetTag[]
  /** true: a target must have all the tags. Otherwise one of them is enough. */
  match_all?: boolean
}

/** Tenant and environment of the deployment. Absent: candidates are not checked against them. */
interface TargetScope {
  tenant_id: string | null
  environment_id: string | null
}

export interface SelectedTargets<T> {
  /** Without duplicates: first the targets given by id in that order, then those found by tag, by name. */
  targets: T[]
  problems: FieldError[]
  /** Ids that no candidate has. */
  missing: { path: string; id: string }[]
}

/**
 * Chooses targets by id, by tag, or both (their union). Tags skip targets that are disabled or belong to another tenant or
 * environment. If the request names such a target by id, it gets an error.
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
    result.problems.push({ path: '/target_ids', message: 'give target_ids or target_tags, or both' })
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
  // A deployment without an environment may use targets of any environment.
  if (scope?.environment_id && environmentId !== null && environmentId !== scope.environment_id) {
    return 'is of another environment'
  }
  return null
}

function hasTags(target: TargetCandidate, tags: readonly TargetTag[], all: boolean): boolean {
  const carries = ({ key, value }: TargetTag) => target.tags?.some((tag) => tag.key === key && tag.value === value)
  return all ? tags.every(carries) : tags.some(carries)
}

// By code unit, because locales differ between machines. The id decides between equal names of different tenants.
function byName(a: TargetCandidate, b: TargetCandidate): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  return a.id < b.id ? -1 : 1
}
