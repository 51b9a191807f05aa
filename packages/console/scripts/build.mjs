// Builds the console (packages/console) into the files that the gateway serves, unless they are newer than their sources.
import fs from 'node:fs'
import path from 'node:path'

const folder = path.dirname(import.meta.dirname)
const SOURCES = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../client/src',
  '../../pnpm-lock.yaml',
]

/** When the newest file of a folder, or a file, was changed. */
function changed(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...fs.readdirSync(file).map((name) => changed(path.join(file, name))))
}

const newest = Math.max(...SOURCES.map((name) => changed(path.join(folder, name))))
if (changed(path.join(folder, 'dist/index.html')) < newest) {
  // Loading Vite takes longer than everything else here.
  const { build } = await import('vite')
  await build({ root: folder, logLevel: 'warn' })
}
