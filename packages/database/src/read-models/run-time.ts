import { type Queryable, statement } from '../sql/statement.ts'
import { float8, int4, int8, nullable } from '../sql/types.ts'

/** How many seconds the last runs took; null if there are too few. */
const findRunTime = statement({
  name: 'database.run-time.find',
  parameters: { fewest: int4, recent: int8 },
  row: { seconds: nullable(float8) },
  sql: `SELECT CASE WHEN count(*) >= :fewest::int4 THEN extract(epoch FROM avg(ended_at - acquired_at))::float8 END AS seconds
      FROM (SELECT acquired_at, ended_at FROM leases WHERE end_reason = 'finished' ORDER BY epoch DESC LIMIT :recent) recent`,
})

/** An estimate uses this many recent runs, and needs at least `FEWEST`. */
const RECENT = 100
const FEWEST = 5

/** How many seconds a run usually takes; null if too few have finished. */
export const readRunSeconds = async (db: Queryable): Promise<number | null> =>
  (await findRunTime.one(db, { fewest: FEWEST, recent: RECENT })).seconds
