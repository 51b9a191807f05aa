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
