import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { chartFolder, findHelm, renderChart } from '../../scripts/helm.mjs'
import { type Manifest, parseManifests } from './manifests.ts'

/** The sets of values in the folder `ci` of the chart. */
export const CHARTS = ['minimal', 'production', 'external-services', 'everything'] as const
export type Chart = (typeof CHARTS)[number]

export const valuesFile = (chart: Chart) => path.join(chartFolder, 'ci', `${chart}-values.yaml`)

/** The objects that Helm makes with these values. Helm leaves out the namespace, which the API server adds. */
export const render = (values: string, ...args: string[]): Manifest[] => renderFrom(chartFolder, values, ...args)

/** Those of another folder, or of a package of the chart. */
export const renderFrom = (chart: string, values: string, ...args: string[]): Manifest[] =>
  parseManifests(renderChart(chart, '--values', values, ...args)).map((manifest) => ({
    ...manifest,
    metadata: { ...manifest.metadata, namespace: 'slipway' },
  }))

const rendered = new Map<Chart, Manifest[]>()
export function chartOf(chart: Chart): Manifest[] {
  const manifests = rendered.get(chart) ?? render(valuesFile(chart))
  rendered.set(chart, manifests)
  return manifests
}

/** Runs Helm and returns what it prints as errors: an empty text if it succeeds. */
export function errorsOf(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(findHelm(), args, { encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 })
  return status === 0 ? '' : stdout + stderr
}
