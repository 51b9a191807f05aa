import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { TIMED_OUT, withTimeout } from '../timing.ts'

/** All metrics of this process. Labels must have few values: no ids, no names from users, no secrets. */
const registry = new Registry()

const declared = <L extends string>(name: `slipway_${string}`, help: string, labelNames: readonly L[]) => ({
  name,
  help,
  labelNames,
  registers: [registry],
})

export interface Counting<L extends string> {
  inc(by?: number): void
  inc(labels: Record<L, string>, by?: number): void
}

export interface Timing<L extends string> {
  observe(seconds: number): void
  observe(labels: Record<L, string>, seconds: number): void
}

export function counter<L extends string = never>(
  name: `slipway_${string}_total`,
  help: string,
  labels: readonly L[] = [],
): Counting<L> {
  return new Counter(declared(name, help, labels))
}

/** The buckets suit calls of clients: 1 ms to 1 min. */
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function histogram<L extends string = never>(
  name: `slipway_${string}_seconds`,
  help: string,
  labels: readonly L[] = [],
): Timing<L> {
  return new Histogram({ ...declared(name, help, labels), buckets: SECONDS })
}

interface Measured {
  help: string
  /** The label that distinguishes the values of a metric with several values. */
  label?: string
}

type Reading<M extends Measured> = M extends { label: string } ? Record<string, number> : number

interface Measurement {
  what: string
  forget(): void
  take(): Promise<void>
}

const measurements: Measurement[] = []
const MEASURE_MS = 4_000

const failures = counter(
  'slipway_measurements_failed_total',
  'Measurements that failed or timed out; the answer leaves out their metrics',
  ['measurement'],
)

/** Declares metrics that are computed at each scrape. */
export function measure<M extends Record<string, Measured>>(
  what: string,
  metrics: M,
  read: () => Promise<{ [Name in keyof M]: Reading<M[Name]> }> | { [Name in keyof M]: Reading<M[Name]> },
): void {
  const gauges = Object.entries<Measured>(metrics).map(([name, { help, label }]) => {
    const labels = label === undefined ? [] : [label]
    return { name, label, gauge: new Gauge(declared(name as `slipway_${string}`, help, labels)) }
  })
  const forget = () => {
    // `reset` would set a metric without labels to 0, a value that was not measured.
    for (const { label, gauge } of gauges) label === undefined ? gauge.remove() : gauge.reset()
  }
  forget()
  measurements.push({
    what,
    forget,
    async take() {
      const readings: Record<string, number | Record<string, number>> = await read()
      forget()
      for (const { name, label, gauge } of gauges) {
        const reading = readings[name] ?? {}
        if (typeof reading === 'number') gauge.set(reading)
        else for (const [kind, value] of Object.entries(reading)) gauge.set({ [label as string]: kind }, value)
      }
    },
  })
}

async function take({ what, take: measureNow, forget }: Measurement): Promise<void> {
  // Leaves out a value that cannot be read. The code that uses the same dependency logs the error.
  const taken = await withTimeout(MEASURE_MS, measureNow()).catch(() => TIMED_OUT)
  if (taken !== TIMED_OUT) return
  forget()
  failures.inc({ measurement: what })
}

let taking: Promise<unknown> | undefined

/** All metrics in the text format of Prometheus. Concurrent calls share one measurement. */
export async function exposition(): Promise<{ type: string; text: string }> {
  taking ??= Promise.all(measurements.map(take)).finally(() => {
    taking = undefined
  })
  await taking
  return { type: registry.contentType, text: await registry.metrics() }
}

/**
 * The lag of the event loop is measured this often; the metrics include this time. With 50 ms, the measurement takes a third of
 * the CPU of an idle service (0.07 % of a core).
 */
const LAG_PRECISION_MS = 200

/** Adds the metrics of every process (memory, CPU, handles, lag of the event loop) and its build information. */
export function describeProcess(about: { component: string; version: string }): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS })
  const help = 'Always 1; the labels name the component and its version'
  new Gauge(declared('slipway_build_info', help, ['component', 'version'])).set(about, 1)
}
