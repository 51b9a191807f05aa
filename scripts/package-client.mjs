// Makes the npm package @slipway/client: the typed client with all it imports, so it has no dependencies. Options: npm-package/make.mjs.
import path from 'node:path'
import { build } from 'esbuild'
import { NODE_BUNDLE } from './bundle-options.mjs'
import { writeDeclarations } from './npm-package/declarations.mjs'
import { writeLicenses } from './npm-package/licenses.mjs'
import { makePackage, root } from './npm-package/make.mjs'
import { writeManifest } from './npm-package/manifest.mjs'

await makePackage(async (folder) => {
  const { metafile } = await build({
    ...NODE_BUNDLE,
    absWorkingDir: root,
    metafile: true,
    legalComments: 'none',
    entryPoints: { index: 'packages/client/dist/index.js' },
    outdir: path.join(folder, 'dist'),
    // The client also runs in browsers.
    platform: 'neutral',
    banner: {},
    splitting: false,
  })
  writeDeclarations(root, path.join(folder, 'dist'))
  writeLicenses(root, metafile, path.join(folder, 'THIRD-PARTY-LICENSES'))
  writeManifest(root, path.join(root, 'packages/client'), folder, () => ({
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    types: './dist/index.d.ts',
    sideEffects: false,
    files: ['dist', 'THIRD-PARTY-LICENSES'],
  }))
})
