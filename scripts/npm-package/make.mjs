// What the scripts of the two npm packages have in common: their options, and the tarball.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

/** The root of the repository. */
export const root = path.resolve(import.meta.dirname, '../..')

/**
 * Makes a package by the options of the command line, and prints the path of its tarball.
 *   --out FOLDER         writes the tarball there (default: dist)
 *   --unpacked FOLDER    writes the files of the package there, and makes no tarball
 */
export async function makePackage(writeFiles) {
  const { values } = parseArgs({ options: { out: { type: 'string' }, unpacked: { type: 'string' } } })
  if (values.unpacked !== undefined) return await writeFiles(path.resolve(values.unpacked))
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-package-'))
  try {
    await writeFiles(folder)
    console.log(pack(folder, values.out ?? path.join(root, 'dist')))
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Packs the files by npm, which heeds `files` of the manifest. Returns the path of the tarball. */
function pack(folder, out) {
  fs.mkdirSync(out, { recursive: true })
  const args = ['pack', '--json', '--offline', '--pack-destination', path.resolve(out)]
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }))
  return path.resolve(out, path.basename(filename))
}
