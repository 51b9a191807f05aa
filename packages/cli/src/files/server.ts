import { NotFoundError, type OperationId, type SlipwayClient } from '@slipway/client'
import { CATALOG_OPERATIONS, nameKey } from '@slipway/contracts'
import type { FileKind } from './kinds.ts'

export interface ServerRecord {
  id: string
  name: string
  tenant_id?: string | null
  managed_by?: string | null
  updated_at?: string
  /** Of a published version. */
  warnings?: string[]
  [field: string]: unknown
}

/** With more names than this, read the whole list instead of searching for each name. */
const MAX_NAMES_TO_SEARCH = 20

/** The records of a server that files refer to. */
export class Catalog {
  readonly #client: SlipwayClient
  readonly #known = new Map<FileKind, Map<string, ServerRecord[]>>()
  readonly #whole = new Set<FileKind>()

  constructor(client: SlipwayClient) {
    this.#client = client
  }

  /** Reads the records that have these names. */
  async read(kind: FileKind, names: ReadonlySet<string>): Promise<void> {
    const unread = [...names].filter((name) => !this.#whole.has(kind) && !this.#known.get(kind)?.has(nameKey(name)))
    if (unread.length > MAX_NAMES_TO_SEARCH) {
      this.#whole.add(kind)
      for await (const record of this.listRecords(kind)) this.#add(kind, record)
      return
    }
    await Promise.all(
      unread.map(async (name) => {
        const key = nameKey(name)
        this.#getRecords(kind).set(key, [])
        for await (const record of this.listRecords(kind, name))
          if (nameKey(record.name) === key) this.#add(kind, record)
      }),
    )
  }

  /** Lists the records of a manager. */
  async listManaged(kind: FileKind, managed_by: string): Promise<ServerRecord[]> {
    const records: ServerRecord[] = []
    for await (const record of this.#each(kind, { managed_by }))
      if (record.managed_by === managed_by) records.push(record)
    return records
  }

  listRecords(kind: FileKind, search?: string): AsyncGenerator<ServerRecord, void, undefined> {
    return this.#each(kind, search === undefined ? {} : { search })
  }

  async *#each(
    kind: FileKind,
    query: { search?: string; managed_by?: string },
  ): AsyncGenerator<ServerRecord, void, undefined> {
    yield* this.#client.each(CATALOG_OPERATIONS[kind].list, {
      query,
    }) as AsyncGenerator<unknown> as AsyncGenerator<ServerRecord>
  }

  /** Finds a record by name and tenant among the records that were read: with this spelling, or else with another one. */
  find(kind: FileKind, name: string, tenantId: string | null): ServerRecord | undefined {
    const all = this.#known.get(kind)?.get(nameKey(name)) ?? []
    const own = all.filter((record) => kind === 'tenant' || (record.tenant_id ?? null) === tenantId)
    return own.find((record) => record.name === name) ?? own[0]
  }

  /** Reads the definition of one version. Returns undefined if this version is not published. */
  async readDefinition(
    kind: 'action' | 'sequence' | 'solution',
    id: string,
    version: string,
  ): Promise<Record<string, unknown> | undefined> {
    try {
      const found = await this.#client.call(CATALOG_OPERATIONS[kind].version, { params: { id, version } })
      return found.definition as Record<string, unknown>
    } catch (error) {
      if (error instanceof NotFoundError) return undefined
      throw error
    }
  }

  /** Lists the versions of a source, newest first. */
  async readVersions(kind: 'action' | 'sequence' | 'solution', id: string): Promise<string[]> {
    return (await this.#client.call(CATALOG_OPERATIONS[kind].get, { params: { id } })).versions.map(
      ({ version }) => version,
    )
  }

  async write(operation: OperationId, input: { params?: { id: string }; body: object }): Promise<ServerRecord> {
    return (await this.#client.call(operation, input as never)) as ServerRecord
  }

  /** Deletes a record as it was read. It may be gone already. */
  async delete(kind: FileKind, { id, updated_at }: ServerRecord): Promise<void> {
    const query = updated_at === undefined ? {} : { expected_updated_at: updated_at }
    try {
      await this.#client.call(CATALOG_OPERATIONS[kind].delete, { params: { id }, query })
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error
    }
  }

  #getRecords(kind: FileKind): Map<string, ServerRecord[]> {
    const known = this.#known.get(kind) ?? new Map<string, ServerRecord[]>()
    this.#known.set(kind, known)
    return known
  }

  #add(kind: FileKind, record: ServerRecord): void {
    const known = this.#getRecords(kind)
    const key = nameKey(record.name)
    known.set(key, [...(known.get(key) ?? []).filter(({ id }) => id !== record.id), record])
  }
}
