import { canonicalJson } from './plan-parts.ts'
import type { PlanHead, PlannedAction, SourceType } from './plan-schema.ts'
import { resolvedVariables } from './plan-views.ts'

/** The part of a plan that a comparison needs. */
export type ComparedPlan = PlanHead & { actions: readonly PlannedAction[] }

type VersionedPlan = Pick<PlanHead, 'source'> & { actions: readonly VersionedAction[] }
type VersionedAction = Pick<
  PlannedAction,
  'sequence_id' | 'sequence_name' | 'sequence_version' | 'action_id' | 'action_name' | 'action_version'
>

interface VersionDifference {
  kind: SourceType
  id: string
  name: string
  /** Null: not part of that plan. If a plan has several versions of it, all of them. */
  before: string | null
  after: string | null
}

interface VariableDifference {
  name: string
  /** Absent: it has no value there. */
  before?: unknown
  after?: unknown
}

export interface PlanDifference {
  versions: VersionDifference[]
  /** Without the variables of targets. Sensitive values are masked, so another secret is no difference here. */
  variables: VariableDifference[]
}

interface PlannedVersion {
  kind: SourceType
  id: string
  name: string
  version: string
}

/** The versions of the source, its sequences and its actions, each once. */
export function plannedVersions(plan: VersionedPlan): PlannedVersion[] {
  return [...partsOf(plan).values()].flatMap(({ versions, ...part }) =>
    [...versions].map((version) => ({ ...part, version })),
  )
}

/** What differs between two plans of a source: the versions of what they are made of, and the values of variables. */
export function planDifference(before: ComparedPlan, after: ComparedPlan): PlanDifference {
  return { versions: versionDifferences(before, after), variables: variableDifferences(before, after) }
}

function versionDifferences(before: ComparedPlan, after: ComparedPlan): VersionDifference[] {
  const old = partsOf(before)
  const present = partsOf(after)
  return [...new Set([...present.keys(), ...old.keys()])].flatMap((key) => {
    const part = present.get(key) ?? old.get(key)
    const versions = { before: listed(old.get(key)), after: listed(present.get(key)) }
    if (part === undefined || versions.before === versions.after) return []
    return [{ kind: part.kind, id: part.id, name: part.name, ...versions }]
  })
}

interface Part {
  kind: SourceType
  id: string
  name: string
  versions: Set<string>
}

const listed = (part: Part | undefined) => (part === undefined ? null : [...part.versions].join(', '))

/** The source, its sequences and its actions. */
function partsOf({ source, actions }: VersionedPlan): Map<string, Part> {
  const parts = new Map<string, Part>()
  const add = (kind: SourceType, id: string, name: string, version: string) => {
    const key = `${kind} ${id}`
    const part = parts.get(key) ?? { kind, id, name, versions: new Set() }
    part.versions.add(version)
    parts.set(key, part)
  }
  add(source.type, source.id, source.name, source.version)
  for (const action of actions) {
    if (source.type !== 'action') add('sequence', action.sequence_id, action.sequence_name, action.sequence_version)
    add('action', action.action_id, action.action_name, action.action_version)
  }
  return parts
}

function variableDifferences(before: ComparedPlan, after: ComparedPlan): VariableDifference[] {
  const old = resolvedVariables(before)
  const present = resolvedVariables(after)
  return [...new Set([...Object.keys(old), ...Object.keys(present)])].sort().flatMap((name) => {
    const was = Object.hasOwn(old, name)
    const is = Object.hasOwn(present, name)
    if (was && is && canonicalJson(old[name]) === canonicalJson(present[name])) return []
    return [{ name, ...(was ? { before: old[name] } : {}), ...(is ? { after: present[name] } : {}) }]
  })
}
