import type { ChangeSource, Static } from '@slipway/contracts'
import { LOCK_KEYS, type Prisma, type Records, statement, type Transaction } from '@slipway/database'
import { requireOwn, type Viewer, visible } from '@slipway/database/read-models'
import {
  type ActionDefinition,
  type ActionTemplates,
  compareVersions,
  conflict,
  type DefinitionSecrets,
  encodeSqid,
  notFound,
  resolveVersion,
  type SourceType,
  validationProblem,
  withEntryValues,
} from '@slipway/domain'
import type { Answer } from '@slipway/http'
import type { CallingUser } from '../callers/calling-user.ts'
import { fileProblems } from '../content/visible-content.ts'
import type { Dependencies } from '../dependencies.ts'
import type { JsonHandler } from '../handler.ts'
import { answerPageOf, newestOrder, sortOf } from '../pages.ts'
import { changesOf, conflictIfTaken, orNull, pickGiven, requireUnchanged, timeOfChange } from '../records/changes.ts'
import { type Change, type Creation, type RecordCall, recordHandlers } from '../records/handlers.ts'
import { findRecord, type RecordOf, recordKind } from '../records/kind.ts'
import { keyOfName, OF_TENANT } from '../records/names.ts'
import { SHARED } from '../records/ownership.ts'
import { fieldReferences, References, recordKey } from '../records/references.ts'
import { tableOf } from '../records/table.ts'
import { refers, scopesWith, WAITS } from '../records/uses.ts'
import {
  type Definition,
  definitionReferences,
  definitionRules,
  entryNames,
  filesOf,
  maskedEntryProblems,
  type Requirement,
  requirementProblems,
  requirementsOf,
  sensitiveNamesOf,
  shownDefinition,
  storedDefinition,
} from './definitions.ts'
import { readScripts } from './scripts.ts'
import { NEWEST_VERSION_FIRST, type SourceLine, sourcePage, type VersionLine, versionPage } from './source-pages.ts'

interface VersionInput {
  version: string
  definition: Definition
}

interface NewVersion extends VersionInput {
  expected_updated_at?: string
}

interface ReadInput extends VersionInput {
  /** Where values are inserted into the scripts; null for other kinds than actions. */
  places: ActionTemplates | null
  warnings: string[]
}

interface SourceInput extends VersionInput {
  name: string
  description?: string | null
  managed_by?: string | null
  tenant_id?: string | null
}

const withVersions = { versions: { select: { version: true, created_at: true } } } satisfies Prisma.SourceInclude

const sourceKind = (kind: SourceType, ...usedBy: string[]) =>
  recordKind({
    name: kind,
    resource: `${kind}s`,
    table: tableOf('source', { include: withVersions }),
    sqlTable: 'sources',
    only: { kind },
    sqids: kind,
    owner: SHARED,
    uniqueName: `kind = '${kind}' AND ${OF_TENANT}`,
    usedBy: [
      ...usedBy,
      `SELECT 'a deployment that runs' AS what WHERE EXISTS (
         SELECT FROM deployments d WHERE d.completed_at IS NULL AND (d.source_id = :id::uuid OR EXISTS (
           SELECT FROM deployment_actions a WHERE a.deployment_id = d.id AND :id::uuid IN (a.action_id, a.sequence_id))))`,
      `SELECT 'a deployment that waits' AS what WHERE EXISTS (
         SELECT FROM pending_requests p WHERE ${WAITS} AND (p.command #>> '{plan,source,id}' = :id::uuid::text
           OR p.command #> '{plan,actions}' @> jsonb_build_array(jsonb_build_object('action_id', :id::uuid))
           OR p.command #> '{plan,actions}' @> jsonb_build_array(jsonb_build_object('sequence_id', :id::uuid))))`,
    ],
  })

const inVersionsOf = (kind: SourceType, list: string, field: string) =>
  `SELECT DISTINCT 'the ${kind} "' || s.name || '"' AS what FROM source_versions v JOIN sources s ON s.id = v.source_id
    WHERE s.kind = '${kind}'
      AND v.definition @> jsonb_build_object('${list}', jsonb_build_array(jsonb_build_object('${field}', :id::uuid)))`

const KINDS = {
  action: sourceKind('action', inVersionsOf('sequence', 'actions', 'action_id')),
  sequence: sourceKind('sequence', inVersionsOf('solution', 'sequences', 'sequence_id')),
  solution: sourceKind('solution', refers('freezes', 'solution_id', 'a freeze'), ...scopesWith('solution_ids')),
}

/**
 * Publishing a version takes the lock shared, deleting a source takes it exclusively: a source is not deleted while a version with
 * it is published. The ids are in the JSON of the definition, so no foreign key protects them.
 */
const lockForPublish = statement({
  name: 'gateway.catalog.lock-composition-shared',
  sql: `SELECT FROM pg_advisory_xact_lock_shared(${LOCK_KEYS.composition})`,
})
const lockForDelete = statement({
  name: 'gateway.catalog.lock-composition',
  sql: `SELECT FROM pg_advisory_xact_lock(${LOCK_KEYS.composition})`,
})

type SourceRow = RecordOf<typeof KINDS.action>

/** What the secrets of a version are sealed for. */
const secretsOf = (sourceId: string, version: string) => `source:${sourceId}:${version}`

/** The handlers of actions, sequences or solutions. Only their definitions differ. */
export function sourceHandlers(kind: SourceType, dependencies: Dependencies) {
  const { database, keys, scripts } = dependencies
  const KIND = KINDS[kind]
  const { prisma } = database
  const what = `The ${kind}`

  const find = async (viewer: Viewer, id: string) => findRecord(KIND, await prisma(), viewer, id)

  async function shownVersion(
    viewer: Viewer,
    row: { source_id: string; version: string; created_at: Date; definition: unknown; secrets: string | null },
  ) {
    const { source_id, version, created_at, definition, secrets } = row
    const hidden =
      secrets === null ? {} : (JSON.parse(keys.openText(secrets, secretsOf(source_id, version))) as DefinitionSecrets)
    const whole = withEntryValues(definition as Definition, hidden)
    const names = await sensitiveOf(viewer, entryNames(kind, whole))
    return { version, created_at, definition: shownDefinition(kind, whole, hidden, names) }
  }

  async function requireNoMask(viewer: Viewer, definition: Definition): Promise<void> {
    const sensitive = await sensitiveOf(viewer, entryNames(kind, definition))
    const problems = maskedEntryProblems(kind, definition, sensitive)
    if (problems.length > 0) throw validationProblem(problems)
  }

  /** Those of these names that a visible source declares as sensitive. */
  async function sensitiveOf(viewer: Viewer, names: readonly string[]): Promise<string[]> {
    if (names.length === 0) return []
    const rows = await (await prisma()).sensitiveName.findMany({
      where: { name: { in: [...names] }, source: visible(viewer) },
      distinct: ['name'],
      select: { name: true },
    })
    return rows.map(({ name }) => name)
  }

  async function requireContent(caller: CallingUser, { definition }: VersionInput): Promise<void> {
    const problems = await fileProblems(database, caller, filesOf(definition))
    if (problems.length > 0) throw validationProblem(problems)
  }

  /** Keeps the parts of the definition from being deleted before the commit. */
  async function holdParts(tx: Transaction, { definition }: VersionInput, references: References) {
    const parts = definitionReferences(kind, definition).map(({ path }) => references.id(path))
    if (parts.length === 0) return
    if (!tx.isRehearsal) await lockForPublish.run(tx)
    const prisma = await tx.prisma()
    await requireStillThere(
      prisma,
      parts.filter((id) => id !== null),
    )
    await requireVersions(prisma, requirementsOf(kind, definition, references))
  }

  /** Reads the scripts of an action. The other kinds have none. */
  async function readInput(caller: CallingUser, input: VersionInput): Promise<ReadInput> {
    if (kind !== 'action') return { ...input, places: null, warnings: [] }
    const read = await readScripts(scripts.of(caller.tenant_id), input.definition as ActionDefinition)
    return { ...input, ...read }
  }

  function versionRow(sourceId: string, { version, definition, places }: ReadInput, references: References) {
    const stored = storedDefinition(kind, definition, references)
    const hasSecrets = Object.keys(stored.secrets).length > 0
    return {
      version,
      definition: stored.definition as unknown as Prisma.InputJsonObject,
      ...(places === null ? {} : { templates: places as unknown as Prisma.InputJsonObject }),
      content: {
        create: [...new Set(filesOf(definition).map(({ content }) => content))].map((content_id) => ({ content_id })),
      },
      secrets: hasSecrets ? keys.seal(JSON.stringify(stored.secrets), secretsOf(sourceId, version)) : null,
    }
  }

  const {
    create,
    get,
    update,
    delete: remove,
  } = recordHandlers(dependencies, KIND, {
    show: (rows) => rows.map((row) => toRecord(kind, row)),
    check: definitionRules(kind),
    async prepareCreate({ caller, body: given, resolve }) {
      const input = given as SourceInput
      const body = { ...input, ...(await readInput(caller, input)) }
      await requireNoMask(caller, body.definition)
      const references = await resolve([
        ...fieldReferences(body, { tenant_id: 'tenant' }),
        ...definitionReferences(kind, body.definition),
      ])
      references.requireFit(references.tenantFor(caller))
      await requireContent(caller, body)
      return { body, references }
    },
    async create({ tx, id, tenant_id, body, references }: Creation<SourceInput & ReadInput>) {
      await holdParts(tx, body, references)
      return {
        columns: {
          id,
          kind,
          tenant_id,
          name: body.name,
          ...keyOfName(body),
          ...orNull(body, ['description', 'managed_by']),
          versions: { create: versionRow(id, body, references) },
          sensitive: { create: sensitiveNamesOf(body.definition).map((name) => ({ name })) },
        },
        details: { name: body.name, version: body.version },
        answer: { warnings: body.warnings },
      }
    },
    async update({ old, body }: Change<SourceRow, Static<typeof ChangeSource>>) {
      const fields = pickGiven(body, ['name', 'description', 'managed_by'])
      return { columns: { ...fields, ...keyOfName(body) }, details: { changes: changesOf(old, fields) } }
    },
    async lockForDelete(tx) {
      if (!tx.isRehearsal) await lockForDelete.run(tx)
    },
    deleted: ({ name }) => ({ name }),
  })

  const list = ({ caller, query }: RecordCall): Promise<Answer> => {
    const { search, managed_by, ids } = query
    const sort = sortOf(query, '-created_at') && (query.sort ?? null)
    return answerPageOf(
      query,
      newestOrder(`${kind}s`),
      (slice) => sourcePage(database, { kind, viewer: caller, search, managed_by, ids, sort }, slice),
      (rows) => rows.map((row) => toListItem(kind, row)),
    )
  }

  const listVersions = ({ caller, params, query }: RecordCall): Promise<Answer> => {
    const key = recordKey(kind, params['id'] ?? '')
    if (key === null) throw notFound(what)
    return answerPageOf(query, NEWEST_VERSION_FIRST, async (slice) => {
      const page = await versionPage(database, { kind, key, viewer: caller, search: query.search }, slice)
      if (page === null) throw notFound(what)
      return page
    })
  }

  const createVersion = async ({ caller, params, body, audit }: RecordCall): Promise<Answer> => {
    const { expected_updated_at, ...given } = body as NewVersion
    const input = await readInput(caller, given)
    const source = await find(caller, params['id'] ?? '')
    requireOwn(caller, source, `${kind}s:update`)
    await requireNoMask(caller, input.definition)
    const references = await References.resolve(database, caller, definitionReferences(kind, input.definition))
    references.requireFit(source.tenant_id)
    await requireContent(caller, input)
    const message = `${what} has a version ${input.version} already: publish the change as a higher version`
    const row = await conflictIfTaken({ path: '/version', message }, () =>
      database.transaction(async (tx) => {
        const prisma = await tx.prisma()
        await holdParts(tx, input, references)
        await KIND.lock.run(tx, { id: source.id })
        const locked = await prisma.source.findFirst({ where: { id: source.id }, select: { updated_at: true } })
        if (locked === null) throw notFound(what)
        requireUnchanged(what, locked, expected_updated_at)
        await prisma.source.update({ where: { id: source.id }, data: { updated_at: timeOfChange(locked) } })
        const details = { name: source.name, version: input.version }
        await audit.record(tx, { resource_id: source.id, tenant_id: source.tenant_id, details })
        const sensitive = sensitiveNamesOf(input.definition).map((name) => ({ source_id: source.id, name }))
        await prisma.sensitiveName.createMany({ data: sensitive, skipDuplicates: true })
        return prisma.sourceVersion.create({
          data: { source: { connect: { id: source.id } }, ...versionRow(source.id, input, references) },
        })
      }),
    )
    return { status: 201, body: { ...(await shownVersion(caller, row)), warnings: input.warnings } }
  }

  const getVersion = async ({ caller, params }: RecordCall): Promise<Answer> => {
    const { id: source_id } = await find(caller, params['id'] ?? '')
    const where = { source_id, version: params['version'] ?? '' }
    const row = await (await prisma()).sourceVersion.findFirst({ where })
    if (row === null) throw notFound(`This version of the ${kind}`)
    return { status: 200, body: await shownVersion(caller, row) }
  }

  return {
    list: { handle: list },
    create,
    get,
    // A change has no definition to check.
    update: { handle: update.handle },
    delete: remove,
    createVersion: { handle: createVersion, check: definitionRules(kind) },
    listVersions: { handle: listVersions },
    getVersion: { handle: getVersion },
  } satisfies Record<string, { handle(call: never): Promise<Answer>; check?: JsonHandler<'createAction'>['check'] }>
}

/** @throws Problem CONFLICT if one of these sources has been deleted meanwhile */
async function requireStillThere(prisma: Records, sourceIds: readonly string[]): Promise<void> {
  const ids = [...new Set(sourceIds)]
  const there = await prisma.source.count({ where: { id: { in: ids } } })
  if (there < ids.length)
    throw conflict('A source in the definition has just been deleted: remove it from the definition')
}

/** @throws Problem VALIDATION_ERROR for requirements that no published version satisfies */
async function requireVersions(prisma: Records, requirements: readonly Requirement[]): Promise<void> {
  if (requirements.length === 0) return
  const sources = await prisma.source.findMany({
    where: { id: { in: [...new Set(requirements.map(({ source_id }) => source_id))] } },
    select: { id: true, kind: true, name: true, versions: { select: { version: true } } },
  })
  const problems = requirementProblems(
    requirements,
    sources.map(({ versions, ...source }) => ({ ...source, versions: versions.map(({ version }) => version) })),
  )
  if (problems.length > 0) throw validationProblem(problems)
}

function toListItem(kind: SourceType, row: SourceLine) {
  const { id, number, name, description, tenant_id, managed_by, created_at, updated_at, latest_version } = row
  const sqid = encodeSqid(kind, number)
  return { id, sqid, name, description, tenant_id, managed_by, created_at, updated_at, latest_version }
}

function toRecord(kind: SourceType, { versions, ...row }: SourceRow) {
  const latest_version = resolveVersion(versions.map(({ version }) => version))
  return { ...toListItem(kind, { ...row, latest_version }), versions: newestFirst(versions) }
}

const newestFirst = (versions: VersionLine[]) =>
  versions.toSorted((a, b) => b.created_at.getTime() - a.created_at.getTime() || compareVersions(b.version, a.version))
