import type { Database } from '@slipway/database'

/** Does the work while each transaction that writes to the table fails at its commit, after all its statements have succeeded. */
export async function whileCommitsFail<T>(database: Database, table: string, work: () => Promise<T>): Promise<T> {
  await database.query(
    `CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the commit fails'; END $$`,
  )
  await database.query(
    `CREATE CONSTRAINT TRIGGER fail_commit AFTER INSERT OR UPDATE ON ${table} DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION fail_commit()`,
  )
  try {
    return await work()
  } finally {
    await database.query('DROP FUNCTION fail_commit CASCADE')
  }
}
