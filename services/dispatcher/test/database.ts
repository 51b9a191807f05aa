import { afterAll, beforeEach } from '@jest/globals'
import type { Database } from '@slipway/database'
import { openTestDatabase } from '@slipway/testing'
import { addCatalog, type Catalog, clear } from './fixtures.ts'

export interface CatalogDatabase {
  database: Database
  catalog: Catalog
}

/** A database for one file of tests, with a catalog: each test begins with nothing that runs or waits. */
export async function testDatabase(): Promise<CatalogDatabase> {
  const { database, drop } = await openTestDatabase()
  afterAll(drop)
  beforeEach(() => clear(database))
  return { database, catalog: await addCatalog(database) }
}
