import { NotFoundError, type SlipwayClient, ValidationError } from '@slipway/client'
import { type Difference, differences, MASKED } from './difference.ts'
import { FileProblems } from './document.ts'
import type { FileKind } from './kinds.ts'
import type { Entry } from './load.ts'
import { Catalog, OPERATIONS, type ServerRecord } from './server.ts'
import { comparable, comparableDefinition, isSource, type Resolve, wantedBody } from './wanted.ts'

/** What has to be done so that the server is as a file wants it. */
export interface Change {
  entry: Entry
  what: 'create' | 'publish' | 'change'
  differences: Difference[]
}

type Source = 'action' | 'sequence' | 'solution'

/** Compares files with a server, and brings the server to what they say. */
export class Changes {
  readonly #entries: readonly Entry[]
  readonly #byName: ReadonlyMap<string, Entry>
  readonly #catalog: Catalog
  readonly #resendSecrets: boolean
  /** Ids of records that were created by this run. */
  readonly #created = new Map<Entry, string>()

  constructor(client: SlipwayClient, entries: readonly Entry[], { resendSecrets = false } = {}) {
    this.#catalog = new Catalog(client)
    this.#entries = entries
    this.#byName = new Map(entries.map((entry) => [nameKey(entry.kind, entry.name, entry.tenant), entry]))
    this.#resendSecrets = resendSecrets
  }

  /** Reads the server and lists what has to change, in the order in which it can be done. Throws FileProblems. */
  async plan(): Promise<Change[]> {
    await this.#read()
    const problems: string[] = []
    const changes: Change[] = []
    for (const entry of this.#entries) {
      try {
        changes.push(...(await this.#changesOf(entry)))
      } catch (error) {
        if (!(error instanceof FileProblems)) throw error
        problems.push(...error.problems)
      }
    }
    if (problems.length > 0) throw new FileProblems(problems)
    return changes
  }

  /** Does one of them. Throws FileProblems where the server finds something wrong with the file. */
  async make({ entry, what, differences: found }: Change): Promise<void> {
    const { kind, document } = entry
    const body = wantedBody(entry, this.#resolver(entry))
    const operations = OPERATIONS[kind]
    const id = this.#existing(entry)?.id ?? ''
    try {
      if (what === 'create') {
        this.#created.set(entry, (await this.#catalog.change(operations.create, { body })).id)
      } else if (what === 'publish' && 'publish' in operations) {
        const { version, definition } = body
        await this.#catalog.change(operations.publish, { params: { id }, body: { version, definition } })
      } else {
        const fields = new Set(found.map(({ path }) => path.split(/[.[]/)[0]))
        // The server takes a name off the list only together with its new value.
        if (fields.has('sensitive_variables')) fields.add('variables')
        const given = Object.entries(body).filter(([field]) => fields.has(field))
        await this.#catalog.change(operations.update, { params: { id }, body: Object.fromEntries(given) })
      }
    } catch (error) {
      throw ofFile(error, (path, message) => document.problem(path, message)) ?? error
    }
  }

  /** Everything that the files name, of the server: one look for each kind, or for each name. */
  async #read(): Promise<void> {
    const names = new Map<FileKind, Set<string>>()
    const add = (kind: FileKind, name: unknown) => {
      if (typeof name === 'string') names.set(kind, (names.get(kind) ?? new Set()).add(name))
    }
    for (const { kind, name, tenant, value } of this.#entries) {
      add(kind, name)
      add('tenant', tenant)
      add('environment', value['environment'])
      add('solution', value['solution'])
      const { actions = [], sequences = [] } = (value['definition'] ?? {}) as Record<string, Record<string, unknown>[]>
      for (const one of actions) add('action', one['action'])
      for (const one of sequences) add('sequence', one['sequence'])
    }
    await Promise.all([...names].map(([kind, all]) => this.#catalog.read(kind, all)))
  }

  async #changesOf(entry: Entry): Promise<Change[]> {
    const wanted = wantedBody(entry, this.#resolver(entry))
    const existing = this.#existing(entry)
    if (!existing) return [{ entry, what: 'create', differences: [] }]
    if (isSource(entry.kind)) return await this.#changesOfSource(entry, existing, wanted)
    const [was, is] = [comparable(entry.kind, existing), comparable(entry.kind, wanted)]
    const sensitive = new Set([...namesIn(was['sensitive_variables']), ...namesIn(is['sensitive_variables'])])
    const found = Object.keys(is)
      .flatMap((field) => fieldDifferences(field, was[field], is[field]))
      .map((one) => (sensitive.has(variableOf(one)) ? { ...one, secret: true as const } : one))
    const secrets = this.#resendSecrets ? secretFields(wanted, entry, sensitive) : []
    const all = [...found, ...secrets.filter(({ path }) => !found.some((one) => one.path === path))]
    return all.length > 0 ? [{ entry, what: 'change', differences: all }] : []
  }

  async #changesOfSource(entry: Entry, existing: ServerRecord, wanted: Record<string, unknown>): Promise<Change[]> {
    const { document } = entry
    const kind = entry.kind as Source
    const { version, description } = wanted as { version: string; description: string | null }
    const definition = comparableDefinition(wanted['definition'] as Record<string, unknown>)
    const published = await this.#catalog.definition(kind, existing.id, version)
    const changes: Change[] = []
    if (published === undefined) {
      const latest = existing['latest_version'] ?? (await this.#catalog.versions(kind, existing.id))[0]
      const before = latest ? await this.#catalog.definition(kind, existing.id, String(latest)) : undefined
      const found = differences({ version: latest, ...comparableDefinition(before ?? {}) }, { version, ...definition })
      changes.push({ entry, what: 'publish', differences: found })
    } else if (differences(comparableDefinition(published), definition).length > 0) {
      const [first] = differences(comparableDefinition(published), definition)
      const message = `is ${version}, which is published with another definition (${first?.path}): a published version never changes, so raise it`
      throw new FileProblems([document.problem('/version', message)])
    }
    const found = differences({ description: existing['description'] }, { description })
    if (found.length > 0) changes.push({ entry, what: 'change', differences: found })
    return changes
  }

  #existing({ kind, name, tenant }: Entry): ServerRecord | undefined {
    const tenantId = tenant === null ? null : this.#tenantId(tenant)
    return tenantId === undefined ? undefined : this.#catalog.find(kind, name, tenantId)
  }

  /** Undefined where it does not exist, or not yet. */
  #tenantId(name: string): string | undefined {
    return this.#catalog.find('tenant', name, null)?.id ?? this.#createdId('tenant', name, null)
  }

  #createdId(kind: FileKind, name: string, tenant: string | null): string | undefined {
    const entry = this.#entryOf(kind, name, tenant)
    return entry && this.#created.get(entry)
  }

  #entryOf(kind: FileKind, name: string, tenant: string | null): Entry | undefined {
    return this.#byName.get(nameKey(kind, name, tenant))
  }

  /** Names mean what the entry's own tenant has, else what all tenants share. */
  #resolver({ tenant, document }: Entry): Resolve {
    return (kind, name, pointer) => {
      const owners = kind === 'tenant' || tenant === null ? [null] : [tenant, null]
      for (const owner of owners) {
        const tenantId = owner === null ? null : this.#tenantId(owner)
        const found = tenantId === undefined ? undefined : this.#catalog.find(kind, name, tenantId)
        const id = found?.id ?? this.#createdId(kind, name, owner)
        if (id !== undefined) return id
        if (this.#entryOf(kind, name, owner)) return null
      }
      const message = `names the ${kind} "${name}", which is neither in these files nor on the server`
      throw new FileProblems([document.problem(pointer, message)])
    }
  }
}

const nameKey = (kind: FileKind, name: string, tenant: string | null) => JSON.stringify([kind, name, tenant])

function fieldDifferences(field: string, was: unknown, is: unknown): Difference[] {
  if (field !== 'connection') return differences(was, is, field)
  // A key that the server pinned by itself is none that the file would have to name.
  const { host_key, ...before } = (was ?? {}) as Record<string, unknown>
  const after = is as Record<string, unknown>
  return differences('host_key' in after ? { ...before, host_key } : before, after, field)
}

const namesIn = (list: unknown) => (list ?? []) as readonly string[]

/** The variable that a difference is about; an empty text for another field. */
const variableOf = ({ path }: Difference) => /^variables\.(\w+)/.exec(path)?.[1] ?? ''

/** The client cannot see whether a hidden value has changed, so it sends these on request. */
function secretFields(
  wanted: Record<string, unknown>,
  { document }: Entry,
  sensitive: ReadonlySet<string>,
): Difference[] {
  const { connection, variables } = wanted as Record<string, Record<string, unknown> | undefined>
  const secret = (value: unknown) => typeof value === 'string' && document.secrets.has(value)
  return [
    ...(['private_key', 'password'] as const).flatMap((name) =>
      connection?.[name] === undefined ? [] : [{ path: `connection.${name}`, from: undefined, to: undefined }],
    ),
    ...Object.entries(variables ?? {}).flatMap(([name, value]) =>
      value !== MASKED && (secret(value) || sensitive.has(name))
        ? [{ path: `variables.${name}`, from: undefined, to: undefined, secret: true as const }]
        : [],
    ),
  ]
}

/** What the server alone could find wrong is said of the file. */
function ofFile(error: unknown, problem: (path: string, message: string) => string): FileProblems | undefined {
  if (error instanceof ValidationError && error.problems.length > 0) {
    return new FileProblems(error.problems.map(({ path, message }) => problem(path, message)))
  }
  if (error instanceof NotFoundError && error.missing.length > 0) {
    return new FileProblems(error.missing.map(({ path, id }) => problem(path, `${id} does not exist`)))
  }
  return undefined
}
