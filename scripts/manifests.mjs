// Renders the chart to plain YAML, for those who do not install with Helm:
//
//   node scripts/manifests.mjs                         with two sets of values of the chart: servers elsewhere, and servers by operators
//   node scripts/manifests.mjs FILE... [OPTION...]     with values of your own; the options are those of `helm template`
//
// The values NAME.yaml become dist/slipway-VERSION-NAME.yaml. Prints the path of each file.
import fs from 'node:fs'
import path from 'node:path'
import { renderManifests } from './helm.mjs'
import { readVersion } from './release/version.mjs'

const root = path.dirname(import.meta.dirname)
const given = process.argv.slice(2)
const firstOption = given.findIndex((argument) => argument.startsWith('-'))
const own = firstOption < 0 ? given : given.slice(0, firstOption)
const options = given.slice(own.length)

const dist = path.join(root, 'dist')
fs.mkdirSync(dist, { recursive: true })
try {
  const files = renderManifests(dist, readVersion(root), own.length > 0 ? own : undefined, options)
  for (const file of files) console.log(path.relative(root, file))
} catch (error) {
  process.stderr.write(`manifests: ${error.message}\n`)
  process.exit(1)
}
