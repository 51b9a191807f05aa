import { afterAll, beforeEach } from '@jest/globals'
import type { Database } from '@slipway/database'
import { openTestDatabase } from '@slipway/testing'
import { addCatalog, type Catalog, clear } from './fixtures.ts'

export interface CatalogDatabase {
  /** The owner's, for preparing and looking. */
  database: Database
  /** With the dispatcher's rights, for what is tested. */
  asDispatcher: Database
  catalog: Catalog
}

/** A database for one file of tests, with a catalog: each test begins with nothing that runs or waits. */
export async function testDatabase(): Promise<CatalogDatabase> {
  const { database, as, drop } = await openTestDatabase()
  afterAll(drop)
  beforeEach(() => clear(database))
  return { database, asDispatcher: as('dispatcher'), catalog: await addCatalog(database) }
}
