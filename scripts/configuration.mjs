// Writes docs/configuration.md.
import fs from 'node:fs'
import path from 'node:path'
import { configurationPage } from './configuration-page.mjs'

fs.writeFileSync(path.resolve(import.meta.dirname, '../docs/configuration.md'), await configurationPage())
