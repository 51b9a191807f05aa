import type { ChangeSource, Static } from '@slipway/contracts'
import type { Prisma, Transaction } from '@slipway/database'
import { requireOwn, type Viewer, visible } from '@slipway/database/read-models'
import {
  type ActionDefinition,
  type ActionTemplates,
  compareVersions,
  type DefinitionSecrets,
  encodeSqid,
  notFound,
  resolveVersion,
  type SourceType,
  validationProblem,
  withEntryValues,
} from '@slipway/domain'
import type { Answer } from '@slipway/http'
import { FairSemaphore, uuidv7 } from '@slipway/runtime'
import type { CallingUser } from '../callers/calling-user.ts'
import { fileProblems } from '../content/visible-content.ts'
import type { Dependencies } from '../dependencies.ts'
import type { Call, JsonHandler } from '../handler.ts'
import { answerPageOf, newestOrder } from '../pages.ts'
import { changesOf, conflictIfTaken, lockRecord, pickGiven } from './changing.ts'
import {
  type Definition,
  definitionReferences,
  definitionRules,
  entryNames,
  filesOf,
  maskedEntryProblems,
  sensitiveNamesOf,
  shownDefinition,
  storedDefinition,
} from './definitions.ts'
import { recordKey } from './record-id.ts'
import { fieldReferences, References } from './references.ts'
import { readScripts } from './scripts.ts'
import { NEWEST_VERSION_FIRST, type SourceLine, sourcePage, type VersionLine, versionPage } from './source-pages.ts'
import { describeTakenName, keyOfName } from './taken-names.ts'
import { lockComposition, requireStillThere, requireUnused } from './uses.ts'

interface VersionInput {
  version: string
  definition: Definition
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

const withVersions = { versions: { select: { version: true, created_at: true } } } as const
type SourceRow = Prisma.SourceGetPayload<{ include: typeof withVersions }>

/** What the secrets of a version are sealed for. */
const secretsOf = (sourceId: string, version: string) => `source:${sourceId}:${version}`

/** The handlers of actions, sequences or solutions. Only their definitions differ. */
/** One thread reads all scripts, each for up to a second. Tenants take turns. */
const READING = { limit: 1, perKey: 1, maxWaiting: 50 }

export function sourceHandlers(kind: SourceType, { database, keys, scripts }: Dependencies) {
  const reading = new FairSemaphore(READING)
  const { prisma } = database
  const what = `The ${kind}`

  const keyOf = (viewer: Viewer, id: string) => {
    const key = recordKey(kind, id)
    if (key === null) throw notFound(what)
    return { ...key, kind, AND: visible(viewer) }
  }

  async function find(viewer: Viewer, id: string) {
    const source = await (await prisma()).source.findFirst({ where: keyOf(viewer, id) })
    if (source === null) throw notFound(what)
    return source
  }

  async function findWithVersions(viewer: Viewer, id: string): Promise<SourceRow> {
    const source = await (await prisma()).source.findFirst({ where: keyOf(viewer, id), include: withVersions })
    if (source === null) throw notFound(what)
    return source
  }

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
    await lockComposition(tx, 'publish')
    await requireStillThere(
      await tx.prisma(),
      parts.filter((id) => id !== null),
    )
  }

  /** Reads the scripts of an action. The other kinds have none. */
  async function readInput(caller: CallingUser, input: VersionInput): Promise<ReadInput> {
    if (kind !== 'action') return { ...input, places: null, warnings: [] }
    const read = () => readScripts(scripts, input.definition as ActionDefinition)
    return { ...input, ...(await reading.run(caller.tenant_id ?? '', read)) }
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

  const list = ({ caller, query }: SourceCall<ListQuery>): Promise<Answer> =>
    answerPageOf(
      query,
      newestOrder(`${kind}s`),
      (slice) =>
        sourcePage(database, { kind, viewer: caller, search: query.search, managed_by: query.managed_by }, slice),
      (rows) => rows.map((row) => toListItem(kind, row)),
    )

  const listVersions = ({ caller, params, query }: SourceCall<ListQuery>): Promise<Answer> => {
    const key = recordKey(kind, params['id'] ?? '')
    if (key === null) throw notFound(what)
    return answerPageOf(query, NEWEST_VERSION_FIRST, async (slice) => {
      const page = await versionPage(database, { kind, key, viewer: caller, search: query.search }, slice)
      if (page === null) throw notFound(what)
      return page
    })
  }

  const create = async ({ caller, body, audit }: SourceCall): Promise<Answer> => {
    const given = body as SourceInput
    const input = { ...given, ...(await readInput(caller, given)) }
    await requireNoMask(caller, input.definition)
    const references = await References.resolve(database, caller, [
      ...fieldReferences(input, { tenant_id: 'tenant' }),
      ...definitionReferences(kind, input.definition),
    ])
    const tenant_id = references.tenantFor(caller)
    references.requireFit(tenant_id)
    await requireContent(caller, input)
    const id = uuidv7()
    const { name, description = null, managed_by = null } = input
    const data = { id, kind, tenant_id, name, ...keyOfName(input), description, managed_by }
    const source = await conflictIfTaken(
      () => describeTakenName(database, kind, data),
      () =>
        database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await holdParts(tx, input, references)
          const details = { name: input.name, version: input.version }
          await audit.record(tx, { resource_id: id, tenant_id, details })
          return prisma.source.create({
            data: {
              ...data,
              versions: { create: versionRow(id, input, references) },
              sensitive: { create: sensitiveNamesOf(input.definition).map((name) => ({ name })) },
            },
            include: withVersions,
          })
        }),
    )
    return { status: 201, body: { ...toRecord(kind, source), warnings: input.warnings } }
  }

  const createVersion = async ({ caller, params, body, audit }: SourceCall): Promise<Answer> => {
    const input = await readInput(caller, body as VersionInput)
    const source = await find(caller, params['id'] ?? '')
    requireOwn(caller, source, `${kind}s:update`)
    await requireNoMask(caller, input.definition)
    const references = await References.resolve(database, caller, definitionReferences(kind, input.definition))
    references.requireFit(source.tenant_id)
    await requireContent(caller, input)
    const published = `${what} has a version ${input.version} already: publish the change as a higher version`
    const row = await conflictIfTaken(published, () =>
      database.transaction(async (tx) => {
        const prisma = await tx.prisma()
        await holdParts(tx, input, references)
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

  const update = async ({ caller, params, body, audit }: SourceCall): Promise<Answer> => {
    const change = body as Static<typeof ChangeSource>
    const found = await find(caller, params['id'] ?? '')
    requireOwn(caller, found, `${kind}s:update`)
    const { id, tenant_id } = found
    const source = await conflictIfTaken(
      () => describeTakenName(database, kind, { id, tenant_id, name: change.name ?? found.name }),
      () =>
        database.transaction(async (tx) => {
          const prisma = await tx.prisma()
          await lockRecord(tx, 'sources', id)
          const old = await prisma.source.findFirst({ where: { id } })
          if (old === null) throw notFound(what)
          const data = pickGiven(change, ['name', 'description', 'managed_by'])
          await audit.record(tx, { resource_id: id, tenant_id, details: { changes: changesOf(old, data) } })
          return prisma.source.update({
            where: { id },
            data: { ...data, ...keyOfName(change) },
            include: withVersions,
          })
        }),
    )
    return { status: 200, body: toRecord(kind, source) }
  }

  const remove = async ({ caller, params, audit }: SourceCall): Promise<Answer> => {
    const source = await find(caller, params['id'] ?? '')
    requireOwn(caller, source, `${kind}s:delete`)
    const { id, name, tenant_id } = source
    await database.transaction(async (tx) => {
      const prisma = await tx.prisma()
      await lockComposition(tx, 'delete')
      await lockRecord(tx, 'sources', id)
      await requireUnused(tx, kind, id)
      const { count } = await prisma.source.deleteMany({ where: { id } })
      if (count === 0) throw notFound(what)
      await audit.record(tx, { resource_id: id, tenant_id, details: { name } })
    })
    return { status: 204 }
  }

  const getVersion = async ({ caller, params }: SourceCall): Promise<Answer> => {
    const { id: source_id } = await find(caller, params['id'] ?? '')
    const where = { source_id, version: params['version'] ?? '' }
    const row = await (await prisma()).sourceVersion.findFirst({ where })
    if (row === null) throw notFound(`This version of the ${kind}`)
    return { status: 200, body: await shownVersion(caller, row) }
  }

  return {
    list: { handle: list },
    create: { handle: create, check: definitionRules(kind) },
    get: {
      handle: async ({ caller, params }: SourceCall) => ({
        status: 200,
        body: toRecord(kind, await findWithVersions(caller, params['id'] ?? '')),
      }),
    },
    update: { handle: update },
    delete: { handle: remove },
    createVersion: { handle: createVersion, check: definitionRules(kind) },
    listVersions: { handle: listVersions },
    getVersion: { handle: getVersion },
  } satisfies Record<string, { handle(call: never): Promise<Answer>; check?: JsonHandler<'createAction'>['check'] }>
}

type ListQuery = { search?: string; managed_by?: string; page?: string; limit?: string }

type SourceCall<Query = Record<string, never>> = Pick<Call<'createAction'>, 'params' | 'body' | 'caller' | 'audit'> & {
  query: Query
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
