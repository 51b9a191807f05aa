import type { SequenceDefinition, SolutionDefinition, VariableDefinition } from './definitions.ts'
import type { SourceType, VariableValues } from './plan-schema.ts'
import { conflict, type FieldError, missingRecords, type Problem, validationProblem } from './problem.ts'
import type { PublishedAction } from './script-template.ts'
import { compareVersions, isVersionRequirement, resolveVersion } from './versions.ts'

export interface CatalogRecord<Definition> {
  id: string
  name: string
  tenant_id: string | null
  versions: readonly { version: string; definition: Definition }[]
}

/** The source and everything that its versions refer to, by id. */
export interface SourceCatalog {
  actions: ReadonlyMap<string, CatalogRecord<PublishedAction>>
  sequences: ReadonlyMap<string, CatalogRecord<SequenceDefinition>>
  solutions: ReadonlyMap<string, CatalogRecord<SolutionDefinition>>
}

/** A version that a redeploy uses again, even if newer ones exist. */
export interface SourcePin {
  kind: SourceType
  id: string
  version: string
}

/** An action with everything that sets its variables. */
export interface ResolvedAction {
  sequence_id: string
  sequence_name: string
  sequence_version: string
  sequence_order: number
  action_id: string
  action_name: string
  action_version: string
  action_order: number
  definition: PublishedAction
  /** Of the action, its sequence and its solution. */
  definitions: (readonly VariableDefinition[])[]
  /** Values that the sequence gives the action, and that the solution gives the sequence. */
  entries: VariableValues[]
}

export interface ResolvedSource {
  type: SourceType
  id: string
  name: string
  version: string
  actions: ResolvedAction[]
  /** Every record that the source uses, without duplicates. */
  records: { kind: SourceType; id: string; name: string; version: string; tenant_id: string | null }[]
}

/**
 * Resolves a source and everything in it to versions: the highest that satisfies each requirement, or the latest. With `pins`,
 * uses only those versions.
 * @throws Problem NOT_FOUND for a source that is not in the catalog, VALIDATION_ERROR for all requirements that no version
 * satisfies, CONFLICT if a pinned version no longer exists
 */
export function resolveSource(
  ref: { type: SourceType; id: string },
  requirement: string | undefined,
  catalog: SourceCatalog,
  pins?: readonly SourcePin[],
): ResolvedSource {
  return new SourceResolver(ref, catalog, pins).resolve(requirement)
}

interface ResolvedRecord<Definition> {
  record: CatalogRecord<Definition>
  version: string
  definition: Definition
}

/** The sequence and the solution of an action. */
interface ActionContext {
  sequence: { id: string; name: string; version: string; order: number }
  definitions: (readonly VariableDefinition[])[]
  entries: VariableValues[]
}

class SourceResolver {
  readonly #ref: { type: SourceType; id: string }
  readonly #catalog: SourceCatalog
  readonly #pins: readonly SourcePin[] | undefined
  readonly #errors: FieldError[] = []
  readonly #records = new Map<string, ResolvedSource['records'][number]>()
  readonly #actions: ResolvedAction[] = []

  constructor(ref: { type: SourceType; id: string }, catalog: SourceCatalog, pins: readonly SourcePin[] | undefined) {
    this.#ref = ref
    this.#catalog = catalog
    this.#pins = pins
  }

  resolve(requirement: string | undefined): ResolvedSource {
    const { type, id } = this.#ref
    const source = this.#resolveTop(requirement)
    if (this.#errors.length > 0) throw validationProblem(this.#errors)
    if (!source) throw this.#gone(id)
    const { record, version } = source
    return { type, id, name: record.name, version, actions: this.#actions, records: [...this.#records.values()] }
  }

  #resolveTop(requirement: string | undefined): ResolvedRecord<unknown> | undefined {
    const { type, id } = this.#ref
    if (type === 'solution') {
      const found = this.#find('solution', this.#catalog.solutions, id, requirement)
      if (found) this.#addSolution(found.definition)
      return found
    }
    if (type === 'sequence') {
      const found = this.#find('sequence', this.#catalog.sequences, id, requirement)
      if (found) this.#addSequence(found, 0, [], [])
      return found
    }
    const found = this.#find('action', this.#catalog.actions, id, requirement)
    // A single action runs in a sequence with the id and name of the action.
    if (found) {
      const sequence = { id, name: found.record.name, version: found.version, order: 0 }
      this.#addAction(found, 0, { sequence, definitions: [], entries: [] })
    }
    return found
  }

  #addSolution(solution: SolutionDefinition): void {
    for (const [order, entry] of solution.sequences.entries()) {
      const found = this.#find('sequence', this.#catalog.sequences, entry.sequence_id, entry.version_requirement)
      if (found) this.#addSequence(found, order, [solution.variables ?? []], [entry.variables ?? {}])
    }
  }

  #addSequence(
    { record, version, definition }: ResolvedRecord<SequenceDefinition>,
    order: number,
    outerDefinitions: (readonly VariableDefinition[])[],
    outerEntries: VariableValues[],
  ): void {
    const sequence = { id: record.id, name: record.name, version, order }
    const definitions = [definition.variables ?? [], ...outerDefinitions]
    for (const [actionOrder, entry] of definition.actions.entries()) {
      const found = this.#find('action', this.#catalog.actions, entry.action_id, entry.version_requirement)
      const entries = [entry.variables ?? {}, ...outerEntries]
      if (found) this.#addAction(found, actionOrder, { sequence, definitions, entries })
    }
  }

  #addAction(
    { record, version, definition }: ResolvedRecord<PublishedAction>,
    order: number,
    around: ActionContext,
  ): void {
    const { sequence, definitions, entries } = around
    this.#actions.push({
      sequence_id: sequence.id,
      sequence_name: sequence.name,
      sequence_version: sequence.version,
      sequence_order: sequence.order,
      action_id: record.id,
      action_name: record.name,
      action_version: version,
      action_order: order,
      definition,
      definitions: [definition.variables ?? [], ...definitions],
      entries,
    })
  }

  #find<D>(
    kind: SourceType,
    records: ReadonlyMap<string, CatalogRecord<D>>,
    id: string,
    requirement: string | undefined,
  ): ResolvedRecord<D> | undefined {
    const isTop = kind === this.#ref.type && id === this.#ref.id
    const path = isTop ? '/version_requirement' : `/${this.#ref.type}_id`
    const record = records.get(id)
    if (!record) {
      if (isTop || this.#pins) throw this.#gone(id)
      this.#errors.push({ path, message: `contains the ${kind} ${id}, which no longer exists` })
      return undefined
    }
    if (requirement !== undefined && !isVersionRequirement(requirement)) {
      this.#errors.push({ path, message: `"${requirement}" is not a range of versions` })
      return undefined
    }
    const versions = record.versions.map(({ version }) => version)
    const version = resolveVersion(this.#pins ? this.#pinned(kind, id, versions) : versions, requirement)
    const published = record.versions.find((candidate) => candidate.version === version)
    if (published) {
      const { name, tenant_id } = record
      this.#records.set(`${kind} ${id} ${version}`, { kind, id, name, version: published.version, tenant_id })
      return { record, ...published }
    }
    if (this.#pins) throw conflict(`A version of ${kind} "${record.name}" that was deployed no longer exists`)
    this.#errors.push({ path, message: unsatisfied(kind, record.name, versions, requirement) })
    return undefined
  }

  // A requirement resolves to the same version among the pins as among all versions, because that version is pinned and is the
  // highest. One id may be pinned in several versions, for several entries.
  #pinned(kind: SourceType, id: string, versions: string[]): string[] {
    const pins = this.#pins ?? []
    return versions.filter((version) =>
      pins.some((pin) => pin.kind === kind && pin.id === id && pin.version === version),
    )
  }

  #gone(id: string): Problem {
    if (this.#pins) return conflict(`${id}, which was deployed, no longer exists`)
    return missingRecords([{ path: `/${this.#ref.type}_id`, id }])
  }
}

const NAMED_VERSIONS = 20

function unsatisfied(kind: SourceType, name: string, versions: string[], requirement: string | undefined): string {
  const newest = [...versions].sort(compareVersions).reverse()
  const more = newest.length > NAMED_VERSIONS ? `, … (${newest.length} in all)` : ''
  const there = newest.length > 0 ? newest.slice(0, NAMED_VERSIONS).join(', ') + more : 'none'
  const lack = requirement === undefined ? 'has no version that is not a prerelease' : `has no version ${requirement}`
  return `${kind} "${name}" ${lack}; there are: ${there}`
}
