import {
  array,
  int4,
  jsonb,
  nullable,
  type Queryable,
  type RowOf,
  rowSet,
  sourceKind,
  statement,
  text,
  uuid,
} from '@slipway/database'
import { type Viewer, visibleSql } from '@slipway/database/read-models'
import {
  type CatalogRecord,
  type DefinitionSecrets,
  type PublishedAction,
  resolveVersion,
  type SequenceDefinition,
  type SolutionDefinition,
  type SourceCatalog,
  type SourcePin,
  type SourceType,
  type VariableDefinition,
  type VariableValues,
  withEntryValues,
} from '@slipway/domain'
import type { KeyRing } from '@slipway/runtime'
import { LRUCache } from 'lru-cache'
import { type References, references } from './ids.ts'

type Definition = PublishedAction | SequenceDefinition | SolutionDefinition

/** Sources by id or number that the caller may see, with all their versions. */
const findSources = statement({
  name: 'planner.sources.find',
  parameters: { tenant_id: nullable(uuid), kind: sourceKind, ids: array(uuid), numbers: array(int4) },
  row: { id: uuid, name: text, tenant_id: nullable(uuid), versions: array(text) },
  sql: `SELECT s.id, s.name, s.tenant_id,
           ARRAY(SELECT v.version FROM source_versions v WHERE v.source_id = s.id) AS versions
      FROM sources s
     WHERE s.kind = :kind::source_kind AND (s.id = ANY (:ids::uuid[]) OR s.number = ANY (:numbers::int[]))
       AND ${visibleSql('s')}`,
})

const findDefinitions = statement({
  name: 'planner.source-versions.find',
  parameters: { versions: rowSet({ id: uuid, version: text }) },
  row: { id: uuid, version: text, definition: jsonb<Definition>(), secrets: nullable(text), size: int4 },
  sql: `SELECT v.source_id AS id, v.version, v.definition || jsonb_build_object('places', v.templates) AS definition, v.secrets, pg_column_size(v.definition) AS size
      FROM :versions AS requested
      JOIN source_versions v ON v.source_id = requested.id AND v.version = requested.version`,
})

export interface SourceReference {
  type: SourceType
  /** A UUID or a SqId. */
  id: string
}

export interface LoadedSource {
  id: string
  catalog: SourceCatalog
}

type SourceRow = RowOf<typeof findSources>

interface Level {
  records: Map<string, CatalogRecord<Definition>>
  definitions: Definition[]
}

/** Requirements by the id of their source. Undefined means the latest version. */
type Requirements = Map<string, Set<string | undefined>>

/**
 * Loads a source and everything it refers to, level by level: solution, sequences, actions. Loads only the definitions of the
 * versions that the requirements or the pins resolve to. Null if the caller sees no such source.
 */
export async function loadSource(
  database: Queryable,
  keyRing: KeyRing,
  caller: Viewer,
  requested: { source: SourceReference; requirement: string | undefined; pins: readonly SourcePin[] | undefined },
): Promise<LoadedSource | null> {
  const { source, requirement, pins } = requested
  const load = async (kind: SourceType, rows: SourceRow[], requirements: Requirements): Promise<Level> => {
    const pairs = rows.flatMap((row) =>
      chosenVersions(kind, row, requirements.get(row.id) ?? new Set(), pins).map((version) => ({
        id: row.id,
        version,
      })),
    )
    const definitions = await loadDefinitions(database, keyRing, pairs)
    return {
      records: new Map(rows.map((row) => [row.id, catalogRecord(row, definitions)])),
      definitions: [...definitions.values()],
    }
  }
  const below = async (kind: SourceType, requirements: Requirements): Promise<Level> => {
    const rows = await loadRecords(database, caller, kind, { uuids: [...requirements.keys()], numbers: [] })
    return load(kind, rows, requirements)
  }

  const [top] = await loadRecords(database, caller, source.type, references(source.type, [source.id]))
  if (!top) return null
  const first = await load(source.type, [top], new Map([[top.id, new Set([requirement])]]))

  const none: Level = { records: new Map(), definitions: [] }
  const solutions = source.type === 'solution' ? first : none
  const sequences =
    source.type === 'solution'
      ? await below('sequence', requirementsOf(first.definitions, sequenceEntries))
      : source.type === 'sequence'
        ? first
        : none
  const actions =
    source.type === 'action' ? first : await below('action', requirementsOf(sequences.definitions, actionEntries))
  return {
    id: top.id,
    catalog: { solutions: solutions.records, sequences: sequences.records, actions: actions.records } as SourceCatalog,
  }
}

async function loadRecords(
  database: Queryable,
  caller: Viewer,
  kind: SourceType,
  { uuids, numbers }: References,
): Promise<SourceRow[]> {
  if (uuids.length === 0 && numbers.length === 0) return []
  return findSources.all(database, { tenant_id: caller.tenant_id, kind, ids: uuids, numbers })
}

async function loadDefinitions(
  database: Queryable,
  keyRing: KeyRing,
  pairs: readonly SourceVersion[],
): Promise<Map<string, Definition>> {
  const found = new Map<string, Definition>()
  const missing: SourceVersion[] = []
  for (const pair of pairs) {
    const definition = published.get(placeOf(pair))
    if (definition === undefined) missing.push(pair)
    else found.set(placeOf(pair), definition)
  }
  for (const { definition, secrets, size, ...pair } of await readDefinitions(database, missing)) {
    const opened = openDefinition(keyRing, pair, definition, secrets)
    found.set(placeOf(pair), opened)
    if (secrets === null && size <= MAX_KNOWN_BYTES) published.set(placeOf(pair), opened)
  }
  return found
}

interface SourceVersion {
  id: string
  version: string
}

const placeOf = ({ id, version }: SourceVersion) => `${id} ${version}`

/** Published versions never change. Versions with secrets and large ones are not cached. */
const MAX_KNOWN = 500
const MAX_KNOWN_BYTES = 8_192
const published = new LRUCache<string, Definition>({ max: MAX_KNOWN })

async function readDefinitions(database: Queryable, pairs: readonly SourceVersion[]) {
  if (pairs.length === 0) return []
  return findDefinitions.all(database, { versions: pairs })
}

function openDefinition(
  keyRing: KeyRing,
  { id, version }: SourceVersion,
  definition: Definition,
  secrets: string | null,
): Definition {
  const opened =
    secrets === null ? {} : (JSON.parse(keyRing.openText(secrets, `source:${id}:${version}`)) as DefinitionSecrets)
  return withEntryValues(withDefaults(definition, opened), opened)
}

/** The defaults of sensitive variables are stored sealed, beside the definition. */
function withDefaults(definition: Definition, defaults: VariableValues): Definition {
  if (definition.variables === undefined) return definition
  const variables = definition.variables.map(
    (variable): VariableDefinition =>
      Object.hasOwn(defaults, variable.name) ? { ...variable, default: defaults[variable.name] } : variable,
  )
  return { ...definition, variables }
}

function chosenVersions(
  kind: SourceType,
  row: SourceRow,
  requirements: ReadonlySet<string | undefined>,
  pins: readonly SourcePin[] | undefined,
): string[] {
  if (pins) {
    const pinned = pins.filter((pin) => pin.kind === kind && pin.id === row.id).map(({ version }) => version)
    return pinned.filter((version) => row.versions.includes(version))
  }
  const versions = [...requirements].map((requirement) => resolveVersion(row.versions, requirement))
  return [...new Set(versions.filter((version) => version !== null))]
}

function catalogRecord(row: SourceRow, definitions: ReadonlyMap<string, Definition>): CatalogRecord<Definition> {
  const versions = row.versions.map((version) => ({
    version,
    get definition(): Definition {
      const definition = definitions.get(placeOf({ id: row.id, version }))
      if (definition === undefined) throw new Error(`Version ${version} of source ${row.id} was not loaded`)
      return definition
    },
  }))
  return { id: row.id, name: row.name, tenant_id: row.tenant_id, versions }
}

interface RequiredSource {
  id: string
  requirement: string | undefined
}

function requirementsOf(
  definitions: readonly Definition[],
  entriesOf: (definition: Definition) => RequiredSource[],
): Requirements {
  const requirements: Requirements = new Map()
  for (const { id, requirement } of definitions.flatMap(entriesOf)) {
    const known = requirements.get(id)
    if (known) known.add(requirement)
    else requirements.set(id, new Set([requirement]))
  }
  return requirements
}

const sequenceEntries = (definition: Definition): RequiredSource[] =>
  (definition as SolutionDefinition).sequences.map((entry) => ({
    id: entry.sequence_id,
    requirement: entry.version_requirement,
  }))

const actionEntries = (definition: Definition): RequiredSource[] =>
  (definition as SequenceDefinition).actions.map((entry) => ({
    id: entry.action_id,
    requirement: entry.version_requirement,
  }))
