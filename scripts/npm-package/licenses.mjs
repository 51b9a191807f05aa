import fs from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'

/** Writes the licences of the packages that esbuild has put into the bundle: most of them demand it. */
export function writeLicenses(root, { inputs, outputs }, file) {
  const folders = new Set()
  for (const input of Object.keys(inputs)) {
    const [folder] = /^.*\/?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []
    if (folder !== undefined) folders.add(folder)
  }
  const missing = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, path: name }) => external && !name.startsWith('node:') && !isBuiltin(name))
  if (missing.length > 0) throw new Error(`not in the bundle: ${missing.map(({ path: name }) => name).join(', ')}`)
  const texts = [...folders].sort().map((folder) => readLicense(path.join(root, folder)))
  fs.writeFileSync(file, texts.join(`\n${'-'.repeat(80)}\n\n`))
}

function readLicense(folder) {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const file = fs.readdirSync(folder).find((one) => /^licen[sc]e/i.test(one))
  if (file === undefined) throw new Error(`${name}: there is no file LICENSE in ${folder}`)
  return `${name} ${version} (${license})\n\n${fs.readFileSync(path.join(folder, file), 'utf8').trim()}\n`
}
