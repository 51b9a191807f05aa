import { type Database, forAllTenants } from '@slipway/database'
import { measure } from '@slipway/runtime'

/** Measures what counts against the limit of all content together. */
export function measureContent(database: Database): void {
  measure(
    'content',
    { slipway_content_bytes: { help: 'Bytes of stored content, and those that running uploads have reserved' } },
    async () => {
      const { rows } = await forAllTenants(() =>
        database.query<{ bytes: number }>(
          `SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM content_usage WHERE scope = 'total'`,
        ),
      )
      return { slipway_content_bytes: rows[0]?.bytes ?? 0 }
    },
  )
}
