// Renders the chart to plain YAML, for those who do not install with Helm:
//
//   node scripts/manifests.mjs                         with two sets of values of the chart: servers elsewhere, and servers by operators
//   node scripts/manifests.mjs FILE... [OPTION...]     with values of your own; the options are those of `helm template`
//
// The values NAME.yaml become dist/slipway-VERSION-NAME.yaml. Prints the path of each file.
import fs from 'node:fs'
import path from 'node:path'
import { chartFolder, renderChart } from './helm.mjs'
import { readVersion } from './release/version.mjs'

const root = path.dirname(import.meta.dirname)
const published = ['external-services', 'production'].map((name) => path.join(chartFolder, `ci/${name}-values.yaml`))

const given = process.argv.slice(2)
const firstOption = given.findIndex((argument) => argument.startsWith('-'))
const own = firstOption < 0 ? given : given.slice(0, firstOption)
const options = given.slice(own.length)

fs.mkdirSync(path.join(root, 'dist'), { recursive: true })
for (const values of own.length > 0 ? own : published) {
  const name = path.basename(values).replace(/(-values)?\.ya?ml$/, '')
  const file = `dist/slipway-${readVersion(root)}-${name}.yaml`
  try {
    fs.writeFileSync(path.join(root, file), renderChart('--values', values, ...options))
  } catch (error) {
    process.stderr.write(`manifests: Helm cannot render the chart with ${values}:\n${error.stderr ?? error.message}\n`)
    process.exit(1)
  }
  console.log(file)
}
