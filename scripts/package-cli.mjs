// Makes the npm package @slipway/cli: the command line with all it imports, so it has no dependencies. Options: npm-package/make.mjs.
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { NODE_BUNDLE } from './bundle-options.mjs'
import { writeLicenses } from './npm-package/licenses.mjs'
import { makePackage, root } from './npm-package/make.mjs'
import { writeManifest } from './npm-package/manifest.mjs'

const source = path.join(root, 'packages/cli')

await makePackage(async (folder) => {
  fs.mkdirSync(path.join(folder, 'bin'), { recursive: true })
  const { metafile } = await build({
    ...NODE_BUNDLE,
    absWorkingDir: root,
    metafile: true,
    legalComments: 'none',
    entryPoints: { bundle: 'packages/cli/dist/executable.js' },
    outdir: path.join(folder, 'dist'),
  })
  writeLicenses(root, metafile, path.join(folder, 'THIRD-PARTY-LICENSES'))
  writeManifest(root, source, folder, ({ bin }) => ({ bin, files: ['bin', 'dist', 'THIRD-PARTY-LICENSES'] }))
  fs.copyFileSync(path.join(source, 'bin/slipway.mjs'), path.join(folder, 'bin/slipway.mjs'))
  fs.chmodSync(path.join(folder, 'bin/slipway.mjs'), 0o755)
})
