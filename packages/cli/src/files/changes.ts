import { ApiError, NotFoundError, type SlipwayClient, ValidationError } from '@slipway/client'
import type { Change, Deletion } from './change.ts'
import { findContentProblems } from './content.ts'
import { buildDesiredBody, type IdResolver, isSource, normalizeDefinition, normalizeRecord } from './desired.ts'
import { compareValues, type Difference, MASKED } from './difference.ts'
import { InvalidFilesError, type YamlDocument } from './document.ts'
import { buildNameKey, type FileKind, KINDS } from './kinds.ts'
import { type CatalogEntry, promotesFrom } from './load.ts'
import { Catalog, OPERATIONS, type ServerRecord } from './server.ts'
import { markTakeOver } from './take-over.ts'

export interface ReconcilerOptions {
  /** Null for files that name no manager. */
  manager: string | null
  resendSecrets?: boolean
  /** Also changes the manager of records that match the files. */
  takeOver?: boolean
}

type SourceKind = 'action' | 'sequence' | 'solution'

/** Compares files with a server, and changes the server to match the files. */
export class Reconciler {
  readonly #entries: readonly CatalogEntry[]
  readonly #byName: ReadonlyMap<string, CatalogEntry>
  readonly #client: SlipwayClient
  readonly #catalog: Catalog
  readonly #manager: string | null
  readonly #resendSecrets: boolean
  readonly #takeOver: boolean
  /** Ids of the records that this run created. */
  readonly #created = new Map<CatalogEntry, string>()

  constructor(client: SlipwayClient, entries: readonly CatalogEntry[], options: ReconcilerOptions) {
    this.#client = client
    this.#catalog = new Catalog(client)
    this.#entries = entries
    this.#byName = new Map(entries.map((entry) => [buildNameKey(entry.kind, entry.name, entry.tenant), entry]))
    this.#manager = options.manager
    this.#resendSecrets = options.resendSecrets === true
    this.#takeOver = options.takeOver === true
  }

  /** Lists the necessary changes in an order in which they can be applied. Throws InvalidFilesError. */
  async plan(): Promise<Change[]> {
    await this.#readCatalog()
    const problems: string[] = []
    const changes: Change[] = []
    for (const entry of this.#entries) {
      try {
        const found = await this.#planEntry(entry)
        changes.push(...markTakeOver(entry, found, this.#findExisting(entry), this.#manager, this.#takeOver))
      } catch (error) {
        if (!(error instanceof InvalidFilesError)) throw error
        problems.push(...error.problems)
      }
    }
    problems.push(...(await findContentProblems(this.#client, changes)))
    if (problems.length > 0) throw new InvalidFilesError(problems)
    return changes
  }

  /**
   * Applies one change. Returns the warnings of the server, each with its place in the file. Throws InvalidFilesError if the
   * server rejects a field of the file.
   */
  async apply({ entry, what, differences: found }: Change): Promise<string[]> {
    const { kind, document } = entry
    const body = { ...buildDesiredBody(entry, this.#createResolver(entry)), managed_by: this.#manager }
    const operations = OPERATIONS[kind]
    const id = this.#findExisting(entry)?.id ?? ''
    try {
      if (what === 'create') {
        const created = await this.#catalog.write(operations.create, { body })
        this.#created.set(entry, created.id)
        return findWarnings(created, document)
      }
      if (what === 'publish' && 'publish' in operations) {
        const { version, definition } = body as { version?: unknown; definition?: unknown }
        const published = await this.#catalog.write(operations.publish, {
          params: { id },
          body: { version, definition },
        })
        return findWarnings(published, document)
      }
      const fields = new Set(found.map(({ path }) => path.split(/[.[]/)[0]))
      // The server removes a name from sensitive_variables only together with a new value of that variable.
      if (fields.has('sensitive_variables')) fields.add('variables')
      const given = Object.entries(body).filter(([field]) => fields.has(field))
      await this.#catalog.write(operations.update, { params: { id }, body: Object.fromEntries(given) })
      return []
    } catch (error) {
      throw convertToFileError(error, (path, message) => document.describeProblem(path, message)) ?? error
    }
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
      await this.#catalog.delete(kind, record.id)
      return null
    } catch (error) {
      if (error instanceof ApiError && (error.status === 403 || error.status === 409)) return error.message
      throw error
    }
  }

  /** Reads every record that the files name. */
  async #readCatalog(): Promise<void> {
    const names = new Map<FileKind, Set<string>>()
    const add = (kind: FileKind, name: unknown) => {
      if (typeof name === 'string') names.set(kind, (names.get(kind) ?? new Set()).add(name))
    }
    for (const { kind, name, tenant, value } of this.#entries) {
      add(kind, name)
      add('tenant', tenant)
      add('environment', value['environment'])
      add('environment', promotesFrom(value))
      add('solution', value['solution'])
      const { actions = [], sequences = [] } = (value['definition'] ?? {}) as Record<string, Record<string, unknown>[]>
      for (const one of actions) add('action', one['action'])
      for (const one of sequences) add('sequence', one['sequence'])
    }
    await Promise.all([...names].map(([kind, all]) => this.#catalog.read(kind, all)))
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
    const found = compareValues({ description: existing['description'] }, { description })
    if (found.length > 0) changes.push({ entry, what: 'change', differences: found })
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
  #createResolver({ tenant, document }: CatalogEntry): IdResolver {
    return (kind, name, pointer) => {
      const owners = kind === 'tenant' || tenant === null ? [null] : [tenant, null]
      for (const owner of owners) {
        const tenantId = owner === null ? null : this.#findTenantId(owner)
        const found = tenantId === undefined ? undefined : this.#catalog.find(kind, name, tenantId)
        const id = found?.id ?? this.#findCreatedId(kind, name, owner)
        if (id !== undefined) return id
        if (this.#findEntry(kind, name, owner)) return null
      }
      const message = `names the ${kind} "${name}", which is neither in these files nor on the server`
      throw new InvalidFilesError([document.describeProblem(pointer, message)])
    }
  }
}

/** The warnings of a published version name the script, and the line in it. */
const findWarnings = ({ warnings = [] }: ServerRecord, document: YamlDocument): string[] =>
  warnings.map((warning) => `${document.getPlace('/definition')}: ${warning}`)

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

/** Converts problems that the server found into problems of the file, with line and column. */
function convertToFileError(
  error: unknown,
  problem: (path: string, message: string) => string,
): InvalidFilesError | undefined {
  if (error instanceof ValidationError && error.problems.length > 0) {
    return new InvalidFilesError(error.problems.map(({ path, message }) => problem(path, message)))
  }
  if (error instanceof NotFoundError && error.missing.length > 0) {
    return new InvalidFilesError(error.missing.map(({ path, id }) => problem(path, `${id} does not exist`)))
  }
  return undefined
}
