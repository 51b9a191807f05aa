import { type Database, forAllTenants } from '@slipway/database'
import { measure } from '@slipway/runtime'
import { sumUsage } from './quota.sql.ts'

export function measureContent(database: Database): void {
  measure(
    'content',
    { slipway_content_bytes: { help: 'Bytes of stored content, and those that running uploads have reserved' } },
    async () => {
      const { bytes } = await forAllTenants(() => sumUsage.one(database))
      return { slipway_content_bytes: bytes }
    },
  )
}
