import fs from 'node:fs'
import path from 'node:path'

/** Writes the package.json of the package. What is bundled is no dependency. */
export function writeManifest(root, folder) {
  const read = (name) => JSON.parse(fs.readFileSync(path.join(root, name), 'utf8'))
  const { version, engines } = read('package.json')
  const { name, license, type, bin, keywords, repository, publishConfig } = read('packages/cli/package.json')
  const manifest = {
    name,
    version,
    description: 'The slipway command line, and the typed client of its API',
    keywords,
    license,
    repository,
    type,
    engines,
    bin,
    exports: {
      '.': { types: './client/index.d.ts', default: './client/index.js' },
      './package.json': './package.json',
    },
    types: './client/index.d.ts',
    // `slipway` is a program with output of its own, the client has no effect when it is imported.
    sideEffects: ['./dist/*', './bin/*'],
    files: ['bin', 'client', 'dist', 'THIRD-PARTY-LICENSES'],
    publishConfig,
  }
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
