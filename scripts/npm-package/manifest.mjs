import fs from 'node:fs'
import path from 'node:path'

/** Writes the package.json of the package, and copies its README and licence. What is bundled is no dependency. */
export function writeManifest(root, source, folder, writeOwnFields) {
  const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'))
  const { version, engines } = read(path.join(root, 'package.json'))
  const own = read(path.join(source, 'package.json'))
  const { name, description, keywords, license, repository, type, publishConfig } = own
  const common = { name, version, description, keywords, license, repository, type, engines, publishConfig }
  const manifest = { ...common, ...writeOwnFields(own) }
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  fs.copyFileSync(path.join(source, 'README.md'), path.join(folder, 'README.md'))
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
}
