// Writes the name of the newest migration into the generated sources: services wait until the database has it.
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
const entries = fs.readdirSync(path.join(root, 'prisma/migrations'), { withFileTypes: true })
const newest = entries
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()
  .at(-1)
const file = path.join(root, 'packages/database/src/generated/newest-migration.ts')
fs.writeFileSync(file, `export const NEWEST_MIGRATION = '${newest}'\n`)
