import { exposition } from '@slipway/runtime'

export interface Metrics {
  /** The names of all declared metrics, with or without samples. */
  names: Set<string>
  /** The sum of the samples with this name and these labels; undefined without samples. */
  value(name: string, labels?: Record<string, string>): number | undefined
  /** Every value of every label. */
  labels(): string[]
}

interface Sample {
  name: string
  labels: Map<string, string>
  value: number
}

export async function readMetrics(url: string): Promise<Metrics> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
  return parseMetrics(await response.text())
}

export function parseMetrics(text: string): Metrics {
  const names = new Set<string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    const declared = /^# TYPE (\S+)/.exec(line)?.[1]
    if (declared !== undefined) names.add(declared)
    const [, name, labels = '', value] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
    if (name === undefined) continue
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
    samples.push({ name, labels: new Map(pairs.map(([, key = '', of = '']) => [key, of])), value: Number(value) })
  }
  return {
    names,
    labels: () => [...new Set(samples.flatMap((sample) => [...sample.labels.values()]))],
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels.get(key) === value),
      )
      return found.length === 0 ? undefined : found.reduce((sum, sample) => sum + sample.value, 0)
    },
  }
}

type Labels = Record<string, string>

/** The value of a metric of the process of the test; 0 without samples. */
export const ownMetric = async (name: string, labels: Labels = {}): Promise<number> =>
  parseMetrics((await exposition()).text).value(name, labels) ?? 0

/** Returns by how much `event` raises each metric of the process of the test. */
export async function raised(
  event: () => Promise<unknown>,
  metrics: [name: string, labels?: Labels][],
): Promise<number[]> {
  const read = () => Promise.all(metrics.map(([name, labels]) => ownMetric(name, labels)))
  const before = await read()
  await event()
  const after = await read()
  return after.map((value, index) => value - (before[index] ?? 0))
}
