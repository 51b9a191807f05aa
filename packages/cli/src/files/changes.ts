import { randomUUID } from 'node:crypto'
import { ApiError, ConflictError, NotFoundError, type SlipwayClient, ValidationError } from '@slipway/client'
import { CATALOG_OPERATIONS } from '@slipway/contracts'
import { formatCount } from '../terminal/table.ts'
import type { Change, Deletion } from './change.ts'
import { type CheckItem, checkChanges } from './check.ts'
import type { ContentFile } from './content-file.ts'
import { buildDesiredBody, type IdResolver, isSource, normalizeDefinition, normalizeRecord } from './desired.ts'
import { compareValues, type Difference, MASKED } from './difference.ts'
import { InvalidFilesError, type YamlDocument } from './document.ts'
import { buildNameKey, type FileKind, KINDS } from './kinds.ts'
import type { CatalogEntry, FileSet } from './load.ts'
import { listReferences } from './references.ts'
import { Catalog, type ServerRecord } from './server.ts'
import { markTakeOver } from './take-over.ts'

export interface ReconcilerOptions {
  /** Null for files that name no manager. */
  manager: string | null
  resendSecrets?: boolean
  /** Also changes the manager of records that match the files. */
  takeOver?: boolean
}

export interface Plan {
  /** In an order in which they can be applied. */
  changes: Change[]
  problems: string[]
}

export interface Checked {
  /** Each is a line with its place in the files. */
  problems: string[]
  warnings: string[]
  /** Why the server would keep a record. */
  refusedDeletions: ReadonlyMap<Deletion, string>
}

type SourceKind = 'action' | 'sequence' | 'solution'

/** Compares files with a server, and changes the server to match the files. */
export class Reconciler {
  readonly #entries: readonly CatalogEntry[]
  readonly #broken: ReadonlySet<CatalogEntry>
  readonly #isComplete: boolean
  readonly #byName: ReadonlyMap<string, CatalogEntry>
  readonly #client: SlipwayClient
  readonly #catalog: Catalog
  readonly #manager: string | null
  readonly #resendSecrets: boolean
  readonly #takeOver: boolean
  /** Ids of the records that this run created. */
  readonly #created = new Map<CatalogEntry, string>()
  /** When this run changed a record, by its id. */
  readonly #changedAt = new Map<string, string | undefined>()

  constructor(
    client: SlipwayClient,
    { entries, broken, isComplete }: Pick<FileSet, 'entries' | 'broken' | 'isComplete'>,
    options: ReconcilerOptions,
  ) {
    this.#client = client
    this.#catalog = new Catalog(client)
    this.#entries = entries
    this.#broken = new Set(broken)
    this.#isComplete = isComplete
    const named = [...broken, ...entries]
    this.#byName = new Map(named.map((entry) => [buildNameKey(entry.kind, entry.name, entry.tenant), entry]))
    this.#manager = options.manager
    this.#resendSecrets = options.resendSecrets === true
    this.#takeOver = options.takeOver === true
  }

  /** Finds the necessary changes. A record with a problem does not hide the problems of the others. */
  async plan(): Promise<Plan> {
    await this.#readCatalog()
    const problems: string[] = []
    const changes: Change[] = []
    for (const entry of [...this.#broken, ...this.#entries]) problems.push(...this.#findMissing(entry))
    for (const entry of this.#entries) {
      try {
        const found = await this.#planEntry(entry)
        changes.push(...markTakeOver(entry, found, this.#findExisting(entry), this.#manager, this.#takeOver))
      } catch (error) {
        if (!(error instanceof InvalidFilesError)) throw error
        problems.push(...error.problems)
      }
    }
    return { changes, problems }
  }

  /** Asks the server what it would refuse of these changes, all together. Nothing is changed. */
  async check(
    changes: readonly Change[],
    {
      deletions,
      uploads,
      ...options
    }: { deletions: readonly Deletion[]; uploads: readonly ContentFile[]; assumePermissions: boolean },
  ): Promise<Checked> {
    const problems: string[] = []
    const warnings: string[] = []
    const refusedDeletions = new Map<Deletion, string>()
    const assumed = new MadeUpIds()
    const created = new MadeUpIds()
    const changed = new Set<string>()
    const items: CheckItem[] = uploads.map(({ id, size, file }) => ({
      change: { what: 'upload', id, size },
      report: (refusal) => problems.push(...(refusal ? [`${file}: ${refusal.message}`] : [])),
    }))
    for (const change of changes) {
      const { entry } = change
      const resolve = this.#createResolver(entry, {
        idOfNew: (one) => (this.#broken.has(one) ? assumed : created).get(one.kind, one),
        idOfMissing: (_problem, kind, name) => assumed.get(kind, name),
      })
      const { what, kind, id, body } = this.#buildCall(change, resolve)
      // The next change of a record would expect the time of the one before, which is not known.
      const { expected_updated_at: _, ...unbound } = body
      const checked = changed.has(id) ? unbound : body
      changed.add(id)
      items.push({
        change:
          what === 'create'
            ? { what, kind, id: created.get(kind, entry), body: checked }
            : ({ what, kind, id, body: checked } as CheckItem['change']),
        report(refusal, found) {
          warnings.push(...placeWarnings(found, entry.document))
          if (refusal)
            problems.push(...toProblems(entry, refusal, (missing) => assumed.has(missing) || created.has(missing)))
        },
      })
    }
    for (const deletion of deletions) {
      const { kind, record } = deletion
      const { id, updated_at } = record
      const expected = updated_at === undefined ? {} : { expected_updated_at: updated_at }
      items.push({
        change: { what: 'delete', kind, id, ...expected },
        report(refusal) {
          if (refusal && refusal.status !== NOT_FOUND) refusedDeletions.set(deletion, refusal.message)
        },
      })
    }
    const all = [...assumed.list().map(toAssumption), ...items]
    const { isAssumed, unchecked } = await checkChanges(this.#client, all, options)
    const isDeletion = ({ change }: CheckItem) => change.what === 'delete'
    for (const [noun, some] of [
      ['deletion', unchecked.filter(isDeletion)],
      ['change', unchecked.filter((item) => !isDeletion(item))],
    ] as const) {
      const count = formatCount(some.length, noun)
      if (some.length > 0)
        warnings.push(`${count} not checked, because one check has no room: the server decides when apply makes them`)
    }
    if (isAssumed) warnings.unshift('this account may only read the catalog: its permissions were not checked')
    return { problems, warnings: [...new Set(warnings)], refusedDeletions }
  }

  /**
   * Applies one change. Returns the warnings of the server, each with its place in the file. Throws InvalidFilesError if the
   * server refuses it.
   */
  async apply(change: Change): Promise<string[]> {
    const { entry } = change
    const resolve = this.#createResolver(entry)
    const { what, kind, id, body } = this.#buildCall(change, resolve)
    const operations = CATALOG_OPERATIONS[kind]
    try {
      if (what === 'create') {
        const created = await this.#catalog.write(operations.create, { body })
        this.#created.set(entry, created.id)
        return placeWarnings(created.warnings, entry.document)
      }
      if (what === 'publish' && 'publish' in operations) {
        const { warnings } = await this.#catalog.write(operations.publish, { params: { id }, body })
        return placeWarnings(warnings, entry.document)
      }
      const { updated_at } = await this.#catalog.write(operations.update, { params: { id }, body })
      this.#changedAt.set(id, updated_at)
      return []
    } catch (error) {
      if (isChangedMeanwhile(error)) throw new InvalidFilesError([await this.#describeRace(entry, id, error)])
      if (!(error instanceof ApiError) || error.passing) throw error
      throw new InvalidFilesError(toProblems(entry, error, () => false))
    }
  }

  /** What a change sends. */
  #buildCall({ entry, what, differences }: Change, resolve: IdResolver) {
    const whole: Record<string, unknown> = { ...buildDesiredBody(entry, resolve), managed_by: this.#manager }
    const existing = this.#findExisting(entry)
    const common = { what, kind: entry.kind, id: existing?.id ?? '' }
    if (what === 'create' || existing === undefined) return { ...common, body: whole }
    const updated = this.#changedAt.has(existing.id) ? this.#changedAt.get(existing.id) : existing.updated_at
    const expected = updated === undefined ? {} : { expected_updated_at: updated }
    if (what === 'publish') {
      return { ...common, body: { version: whole['version'], definition: whole['definition'], ...expected } }
    }
    const fields = new Set(differences.map(({ path }) => path.split(/[.[]/)[0]))
    // The server removes a name from sensitive_variables only together with a new value of that variable.
    if (fields.has('sensitive_variables')) fields.add('variables')
    const given = Object.fromEntries(Object.entries(whole).filter(([field]) => fields.has(field)))
    return { ...common, body: { ...given, ...expected } }
  }

  /** Says who changed the record, if the caller may know. */
  async #describeRace({ kind, name, document }: CatalogEntry, id: string, error: ConflictError): Promise<string> {
    const by = await this.#client.call('listAuditLogs', { query: { resource_id: id, limit: 1 } }).then(
      ({ data }) => (data[0]?.actor_name ? ` by ${data[0].actor_name}` : ''),
      () => '',
    )
    const at = String(error.details['updated_at'])
    return `${document.getPlace('')}: ${kind} ${name}: was changed${by} at ${at}, while this apply ran: run apply again`
  }

  /**
   * Lists the records of the manager that the files no longer name, in an order in which they can be deleted. With a tenant, only
   * records of this tenant. `plan` comes first.
   */
  async planDeletions(tenant: string | null): Promise<Deletion[]> {
    const manager = this.#manager
    if (manager === null) return []
    const named = new Set(this.#entries.map((entry) => this.#findExisting(entry)?.id))
    if (tenant !== null) await this.#catalog.read('tenant', new Set([tenant]))
    const tenantId = tenant === null ? undefined : this.#findTenantId(tenant)
    if (tenant !== null && tenantId === undefined) return []
    const kinds = tenant === null ? KINDS : KINDS.filter((kind) => kind !== 'tenant')
    const found = await Promise.all(
      kinds.toReversed().map(async (kind) => {
        const records = await this.#catalog.listManaged(kind, manager)
        return records
          .filter(({ id, tenant_id = null }) => !named.has(id) && (tenantId === undefined || tenant_id === tenantId))
          .map((record): Deletion => ({ kind, record }))
      }),
    )
    return found.flat()
  }

  /** Deletes a record. Returns why the server refused it, or null. */
  async delete({ kind, record }: Deletion): Promise<string | null> {
    try {
      await this.#catalog.delete(kind, record)
      return null
    } catch (error) {
      if (error instanceof ApiError && (error.status === 403 || error.status === 409)) return error.message
      throw error
    }
  }

  /** Reads every record that the files name. */
  async #readCatalog(): Promise<void> {
    const names = new Map<FileKind, Set<string>>()
    const add = (kind: FileKind, name: string) => names.set(kind, (names.get(kind) ?? new Set()).add(name))
    for (const entry of [...this.#entries, ...this.#broken]) {
      add(entry.kind, entry.name)
      for (const { kind, name } of listReferences(entry)) add(kind, name)
    }
    await Promise.all([...names].map(([kind, all]) => this.#catalog.read(kind, all)))
  }

  /** Names that nothing has. In files that could not be read, there may be a record of the name. */
  #findMissing(entry: CatalogEntry): string[] {
    if (!this.#isComplete) return []
    const found: string[] = []
    const idOfMissing = (problem: string) => {
      found.push(problem)
      return null
    }
    const resolve = this.#createResolver(entry, { ...WITHOUT_NEW, idOfMissing })
    for (const { kind, name, pointer } of listReferences(entry)) resolve(kind, name, pointer)
    return found
  }

  async #planEntry(entry: CatalogEntry): Promise<Change[]> {
    const desired = buildDesiredBody(entry, this.#createResolver(entry))
    const existing = this.#findExisting(entry)
    if (!existing) return [{ entry, what: 'create', differences: [] }]
    if (existing.name !== entry.name) throw new InvalidFilesError([describeOtherSpelling(entry, existing)])
    if (isSource(entry.kind)) return await this.#planSource(entry, existing, desired)
    const [was, is] = [normalizeRecord(entry.kind, existing), normalizeRecord(entry.kind, desired)]
    const sensitive = new Set([...readNames(was['sensitive_variables']), ...readNames(is['sensitive_variables'])])
    const found = Object.keys(is)
      .flatMap((field) => compareFields(field, was[field], is[field]))
      .map((one) => (sensitive.has(getVariableName(one)) ? { ...one, secret: true as const } : one))
    const secrets = this.#resendSecrets ? listSecretFields(desired, entry, sensitive) : []
    const all = [...found, ...secrets.filter(({ path }) => !found.some((one) => one.path === path))]
    return all.length > 0 ? [{ entry, what: 'change', differences: all }] : []
  }

  async #planSource(entry: CatalogEntry, existing: ServerRecord, desired: Record<string, unknown>): Promise<Change[]> {
    const { document } = entry
    const kind = entry.kind as SourceKind
    const { version, description } = desired as { version: string; description: string | null }
    const definition = normalizeDefinition(desired['definition'] as Record<string, unknown>)
    const published = await this.#catalog.readDefinition(kind, existing.id, version)
    const changes: Change[] = []
    const described = compareValues({ description: existing['description'] }, { description })
    // Before the version: its publication is the last change of the source that this run has seen.
    if (described.length > 0) changes.push({ entry, what: 'change', differences: described })
    if (published === undefined) {
      const latest = existing['latest_version'] ?? (await this.#catalog.readVersions(kind, existing.id))[0]
      const before = latest ? await this.#catalog.readDefinition(kind, existing.id, String(latest)) : undefined
      const found = compareValues({ version: latest, ...normalizeDefinition(before ?? {}) }, { version, ...definition })
      changes.push({ entry, what: 'publish', differences: found })
    } else if (compareValues(normalizeDefinition(published), definition).length > 0) {
      const [first] = compareValues(normalizeDefinition(published), definition)
      const message = `is ${version}, but this version is published with another definition (${first?.path}): raise the version`
      throw new InvalidFilesError([document.describeProblem('/version', message)])
    }
    return changes
  }

  #findExisting({ kind, name, tenant }: CatalogEntry): ServerRecord | undefined {
    const tenantId = tenant === null ? null : this.#findTenantId(tenant)
    return tenantId === undefined ? undefined : this.#catalog.find(kind, name, tenantId)
  }

  /** Returns undefined if the tenant does not exist yet. */
  #findTenantId(name: string): string | undefined {
    return this.#catalog.find('tenant', name, null)?.id ?? this.#findCreatedId('tenant', name, null)
  }

  #findCreatedId(kind: FileKind, name: string, tenant: string | null): string | undefined {
    const entry = this.#findEntry(kind, name, tenant)
    return entry && this.#created.get(entry)
  }

  #findEntry(kind: FileKind, name: string, tenant: string | null): CatalogEntry | undefined {
    return this.#byName.get(buildNameKey(kind, name, tenant))
  }

  /** Returns a resolver that prefers records of the entry's tenant to records without a tenant. */
  #createResolver(
    { tenant, document }: CatalogEntry,
    { idOfNew, idOfMissing }: ResolverOptions = WITHOUT_NEW,
  ): IdResolver {
    return (kind, name, pointer) => {
      const owners = kind === 'tenant' || tenant === null ? [null] : [tenant, null]
      for (const owner of owners) {
        const entry = this.#findEntry(kind, name, owner)
        const planned = entry && idOfNew(entry)
        if (entry && this.#broken.has(entry) && planned) return planned
        const tenantId = owner === null ? null : this.#findTenantId(owner)
        const found = tenantId === undefined ? undefined : this.#catalog.find(kind, name, tenantId)
        const id = found?.id ?? this.#findCreatedId(kind, name, owner)
        if (id !== undefined) return id
        if (entry) return planned ?? null
      }
      const message = `names the ${kind} "${name}", which is neither in these files nor on the server`
      return idOfMissing(document.describeProblem(pointer, message), kind, name)
    }
  }
}

interface ResolverOptions {
  /** The id of a record of the files that is not on the server. */
  idOfNew(entry: CatalogEntry): string | null
  /** The id of a record that is neither in the files nor on the server. */
  idOfMissing(problem: string, kind: FileKind, name: string): string | null
}

const WITHOUT_NEW: ResolverOptions = { idOfNew: () => null, idOfMissing: () => null }

/** Ids for records that the server does not have, each with its kind. */
class MadeUpIds {
  readonly #ids = new Map<string, { id: string; kind: FileKind }>()
  readonly #keys = new Map<CatalogEntry, string>()

  /** `record`: an entry of the files, or a name that nothing has. */
  get(kind: FileKind, record: CatalogEntry | string): string {
    const key = typeof record === 'string' ? JSON.stringify([kind, record]) : this.#keyOf(record)
    const known = this.#ids.get(key) ?? { id: randomUUID(), kind }
    this.#ids.set(key, known)
    return known.id
  }

  has(id: string): boolean {
    return this.list().some((one) => one.id === id)
  }

  list(): { id: string; kind: FileKind }[] {
    return [...this.#ids.values()]
  }

  #keyOf(entry: CatalogEntry): string {
    const key = this.#keys.get(entry) ?? `${this.#keys.size}`
    this.#keys.set(entry, key)
    return key
  }
}

/** Only tenants, environments and sources are referred to. */
const toAssumption = ({ id, kind }: { id: string; kind: FileKind }): CheckItem => ({
  change: { what: 'assume', kind: kind as SourceKind | 'tenant' | 'environment', id },
  report() {},
})

const NOT_FOUND = 404

/** The warnings of a published version name the script, and the line in it. */
const placeWarnings = (warnings: readonly string[] | undefined, document: YamlDocument): string[] =>
  (warnings ?? []).map((warning) => `${document.getPlace('/definition')}: ${warning}`)

/** The server refuses the name, and a rename is no change that a file asks for. */
const describeOtherSpelling = ({ kind, name, document }: CatalogEntry, existing: ServerRecord) =>
  document.describeProblem(
    '/name',
    `is "${name}", and the server has the ${kind} "${existing.name}" (${existing.id}): names that differ only in case, composition or ` +
      'invisible characters are the same name; write the name as the server has it, or rename the record first',
  )

function compareFields(field: string, was: unknown, is: unknown): Difference[] {
  if (field !== 'connection') return compareValues(was, is, field)
  // Ignore a host key that the server pinned, unless the file names one.
  const { host_key, ...before } = (was ?? {}) as Record<string, unknown>
  const after = is as Record<string, unknown>
  return compareValues('host_key' in after ? { ...before, host_key } : before, after, field)
}

const readNames = (list: unknown) => (list ?? []) as readonly string[]

/** Returns the name of the changed variable, or an empty text for another field. */
const getVariableName = ({ path }: Difference) => /^variables\.(\w+)/.exec(path)?.[1] ?? ''

/** Lists the secrets to send on request. The server does not return them, so a change cannot be detected. */
function listSecretFields(
  desired: Record<string, unknown>,
  { document }: CatalogEntry,
  sensitive: ReadonlySet<string>,
): Difference[] {
  const { connection, variables } = desired as Record<string, Record<string, unknown> | undefined>
  const isSecret = (value: unknown) => typeof value === 'string' && document.secrets.has(value)
  return [
    ...(['private_key', 'password'] as const).flatMap((name) =>
      connection?.[name] === undefined ? [] : [{ path: `connection.${name}`, from: undefined, to: undefined }],
    ),
    ...Object.entries(variables ?? {}).flatMap(([name, value]) =>
      value !== MASKED && (isSecret(value) || sensitive.has(name))
        ? [{ path: `variables.${name}`, from: undefined, to: undefined, secret: true as const }]
        : [],
    ),
  ]
}

/** Whether the server refused the change because the record is not as this run has read it. */
const isChangedMeanwhile = (error: unknown): error is ConflictError =>
  error instanceof ConflictError && error.details['expected_updated_at'] !== undefined

/** Converts a refusal into problems of the file, with line and column. Leaves out references to records with a problem of their own. */
function toProblems(entry: CatalogEntry, error: ApiError, isMadeUp: (id: string) => boolean): string[] {
  const { kind, name, document } = entry
  const describe = ({ path, message }: { path: string; message: string }) =>
    document.describeProblem(toFilePointer(path), message)
  if (error instanceof NotFoundError && error.missing.length > 0) {
    return error.missing
      .filter(({ id }) => !isMadeUp(id))
      .map(({ path }) => describe({ path, message: 'names a record that was deleted meanwhile: run apply again' }))
  }
  const fields = error instanceof ValidationError || error instanceof ConflictError ? error.problems : []
  if (fields.length > 0) return fields.map(describe)
  return [`${document.getPlace('')}: ${kind} ${name}: ${error.message}`]
}

/** Files name records where the API has their ids. */
const toFilePointer = (pointer: string) => pointer.replace(/_id$/, '')
