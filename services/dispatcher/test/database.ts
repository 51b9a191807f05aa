import { afterAll, beforeEach } from '@jest/globals'
import type { Database } from '@slipway/database'
import { openTestDatabase } from '@slipway/testing'
import { addCatalog, type Catalog, clear } from './fixtures.ts'

export interface CatalogDatabase {
  /** Connects as the owner of the database, for preparing and checking. */
  database: Database
  /** Connects with the rights of the dispatcher, for the code under test. */
  asDispatcher: Database
  catalog: Catalog
}

/** A database for one file of tests, with a catalog: each test begins without deployments and pending requests. */
export async function testDatabase(): Promise<CatalogDatabase> {
  const { database, as, drop } = await openTestDatabase()
  afterAll(drop)
  beforeEach(() => clear(database))
  return { database, asDispatcher: as('dispatcher'), catalog: await addCatalog(database) }
}
