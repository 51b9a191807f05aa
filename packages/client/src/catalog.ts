import type {
  CreateAction,
  CreateActionVersion,
  CreateEnvironment,
  CreateSequence,
  CreateSequenceVersion,
  CreateSolution,
  CreateSolutionVersion,
  CreateTarget,
  Environment,
  OperationId,
  PageMeta,
  Source,
  SourceListItem,
  SourceVersion,
  Static,
  Target,
} from '@slipway/contracts'
import type { Connection } from './connection.ts'

export interface ListQuery {
  page?: number
  limit?: number
  search?: string
}

export interface Page<T> {
  data: T[]
  meta: Static<typeof PageMeta>
}

const MAX_LIMIT = 100

/** The operations that every kind of record has: list, read, create. */
export class Records<Item extends { name: string }, Full, Create> {
  protected readonly connection: Connection
  readonly #operations: { list: OperationId; get: OperationId; create: OperationId }

  constructor(connection: Connection, operations: { list: OperationId; get: OperationId; create: OperationId }) {
    this.connection = connection
    this.#operations = operations
  }

  async list(query: ListQuery = {}): Promise<Page<Item>> {
    return await this.connection.call(this.#operations.list, { query: { ...query } })
  }

  async get(id: string): Promise<Full> {
    return await this.connection.call(this.#operations.get, { params: { id } })
  }

  async create(body: Create): Promise<Full> {
    return await this.connection.call(this.#operations.create, { body })
  }

  /** The record with exactly this name, or null. */
  async findByName(name: string): Promise<Item | null> {
    for (let page = 1; ; page += 1) {
      const { data, meta } = await this.list({ search: name, page, limit: MAX_LIMIT })
      const found = data.find((item) => item.name === name)
      if (found) return found
      if (!meta.has_next) return null
    }
  }
}

/** What sources have beyond that: versions. */
export class Sources<Create, CreateVersion> extends Records<
  Static<typeof SourceListItem>,
  Static<typeof Source>,
  Create
> {
  readonly #versions: { createVersion: OperationId; getVersion: OperationId }

  constructor(
    connection: Connection,
    operations: Record<'list' | 'get' | 'create' | 'createVersion' | 'getVersion', OperationId>,
  ) {
    super(connection, operations)
    this.#versions = operations
  }

  async createVersion(id: string, body: CreateVersion): Promise<Static<typeof SourceVersion>> {
    return await this.connection.call(this.#versions.createVersion, { params: { id }, body })
  }

  async getVersion(id: string, version: string): Promise<Static<typeof SourceVersion>> {
    return await this.connection.call(this.#versions.getVersion, { params: { id, version } })
  }
}

export const actions = (connection: Connection) =>
  new Sources<Static<typeof CreateAction>, Static<typeof CreateActionVersion>>(connection, {
    list: 'listActions',
    get: 'getAction',
    create: 'createAction',
    createVersion: 'createActionVersion',
    getVersion: 'getActionVersion',
  })

export const sequences = (connection: Connection) =>
  new Sources<Static<typeof CreateSequence>, Static<typeof CreateSequenceVersion>>(connection, {
    list: 'listSequences',
    get: 'getSequence',
    create: 'createSequence',
    createVersion: 'createSequenceVersion',
    getVersion: 'getSequenceVersion',
  })

export const solutions = (connection: Connection) =>
  new Sources<Static<typeof CreateSolution>, Static<typeof CreateSolutionVersion>>(connection, {
    list: 'listSolutions',
    get: 'getSolution',
    create: 'createSolution',
    createVersion: 'createSolutionVersion',
    getVersion: 'getSolutionVersion',
  })

export const targets = (connection: Connection) =>
  new Records<Static<typeof Target>, Static<typeof Target>, Static<typeof CreateTarget>>(connection, {
    list: 'listTargets',
    get: 'getTarget',
    create: 'createTarget',
  })

export const environments = (connection: Connection) =>
  new Records<Static<typeof Environment>, Static<typeof Environment>, Static<typeof CreateEnvironment>>(connection, {
    list: 'listEnvironments',
    get: 'getEnvironment',
    create: 'createEnvironment',
  })
