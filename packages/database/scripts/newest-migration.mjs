// Writes the names of the first and the newest migration into the generated sources. Services wait until the database has the newest;
// a database with other migrations than the first one is of another history.
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')
const entries = fs.readdirSync(path.join(root, 'prisma/migrations'), { withFileTypes: true })
const names = entries
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()
const file = path.join(root, 'packages/database/src/generated/newest-migration.ts')
fs.writeFileSync(file, `export const BASELINE = '${names.at(0)}'\nexport const NEWEST_MIGRATION = '${names.at(-1)}'\n`)
