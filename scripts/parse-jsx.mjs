// Loaded before dependency-cruiser, with `node --import`. Its parser swc reads JSX only if it is told so, and
// dependency-cruiser does not tell it. Delete this file when src/extract/swc/parse.mjs of dependency-cruiser does.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const manifest = path.join(import.meta.dirname, '../node_modules/dependency-cruiser/package.json')
// pnpm gives swc to dependency-cruiser alone, so the search begins at its real folder.
const swc = createRequire(fs.realpathSync(manifest))('@swc/core')
const { parseFileSync } = swc

swc.parseFileSync = (file, options) => parseFileSync(file, { ...options, tsx: file.endsWith('.tsx') })
