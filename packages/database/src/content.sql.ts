import { statement } from './sql/statement.ts'
import { bytea, int4, uuid } from './sql/types.ts'

export const findChunk = statement({
  name: 'database.content.find-chunk',
  parameters: { upload_id: uuid, number: int4 },
  row: { bytes: bytea },
  sql: 'SELECT bytes FROM content_chunks WHERE upload_id = :upload_id AND number = :number',
})
