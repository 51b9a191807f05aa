// Makes the package that people install: the command line and the client with all they import, so it has no dependencies.
//   node scripts/package-cli.mjs [--out FOLDER]       writes slipway-cli-VERSION.tgz there (default: dist), prints its path
//   node scripts/package-cli.mjs --unpacked FOLDER    writes the files of the package there, as the image has them
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { NODE_BUNDLE } from './bundle-options.mjs'
import { writeDeclarations } from './package-cli/declarations.mjs'
import { writeLicenses } from './package-cli/licenses.mjs'
import { writeManifest } from './package-cli/manifest.mjs'

const root = path.dirname(import.meta.dirname)
const cli = path.join(root, 'packages/cli')

async function writePackage(folder) {
  fs.mkdirSync(path.join(folder, 'bin'), { recursive: true })
  const common = { ...NODE_BUNDLE, absWorkingDir: root, metafile: true, legalComments: 'none' }
  const program = await build({
    ...common,
    entryPoints: { bundle: 'packages/cli/dist/executable.js' },
    outdir: path.join(folder, 'dist'),
  })
  const client = await build({
    ...common,
    entryPoints: { index: 'packages/client/dist/index.js' },
    outdir: path.join(folder, 'client'),
    // The client also runs in browsers.
    platform: 'neutral',
    banner: {},
    splitting: false,
  })
  writeDeclarations(root, path.join(folder, 'client'))
  writeLicenses(root, [program.metafile, client.metafile], path.join(folder, 'THIRD-PARTY-LICENSES'))
  writeManifest(root, folder)
  fs.copyFileSync(path.join(cli, 'bin/slipway.mjs'), path.join(folder, 'bin/slipway.mjs'))
  fs.chmodSync(path.join(folder, 'bin/slipway.mjs'), 0o755)
  fs.copyFileSync(path.join(cli, 'README.md'), path.join(folder, 'README.md'))
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
}

/** Packs the files by npm, which heeds `files` of the manifest. Returns the path of the tarball. */
function pack(folder, out) {
  fs.mkdirSync(out, { recursive: true })
  const args = ['pack', '--json', '--offline', '--pack-destination', path.resolve(out)]
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }))
  return path.resolve(out, path.basename(filename))
}

const { values } = parseArgs({ options: { out: { type: 'string' }, unpacked: { type: 'string' } } })
if (values.unpacked !== undefined) {
  await writePackage(path.resolve(values.unpacked))
} else {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-package-'))
  try {
    await writePackage(folder)
    console.log(pack(folder, values.out ?? path.join(root, 'dist')))
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
