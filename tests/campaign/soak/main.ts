// node tests/campaign/soak/main.ts [MINUTES=60] [SEED=n] — see tests/campaign/README.md
import { randomInt } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { loginToSuite, repositoryRoot, type ServiceName, startReceiver, startSuite } from '@slipway/testing'
import { uptime } from '../clock.ts'
import { readSettings } from '../settings.ts'
import { startServers, stopServers } from '../suite.ts'
import { SERVICES } from '../topology.ts'
import { startLoad } from './load.ts'
import { describeSoak, type Soak } from './report.ts'
import { startSampler } from './sampler.ts'
import { Measurements } from './series.ts'

const SAMPLE_EVERY_MS = 10_000
const LEAST_MINUTES = 6
const setting = readSettings({ MINUTES: LEAST_MINUTES, SEED: 0 })
const minutes = setting('MINUTES') ?? 60
/** Minutes until the memory of a process has settled: caches are filled, and most of the code is compiled. */
const warmUp = Math.ceil(minutes / 3)
const seed = setting('SEED') ?? randomInt(2 ** 31)
const COLLECT = path.join(import.meta.dirname, 'collect.cjs')
/**
 * What allocators keep for later is not a leak, but it changes by tens of MiB within hours: V8's young generation may have 1 to 32 MiB,
 * and the C library keeps freed memory for each thread. Both get their least size, so that the memory of a process shows what is in use.
 */
const memoryFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-soak-'))
const MEMORY = {
  NODE_OPTIONS: `--require=${COLLECT} --max-semi-space-size=1`,
  MALLOC_ARENA_MAX: '1',
  SOAK_MEMORY_DIR: memoryFolder,
}
const NAMES: readonly ServiceName[] = [...SERVICES, 'orchestration-instance', 'orchestration-instance-2']

/** An interrupted soak stops what it has started, and leaves no results. */
const interrupted = new Promise<'interrupted'>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve('interrupted'))
})

const servers = await startServers()
const suite = await startSuite({
  secondGateway: true,
  secondLogStream: true,
  secondReplicas: true,
  secondInstance: true,
  env: { SLIPWAY_WEBHOOK_ALLOW_PRIVATE: 'true', ...MEMORY },
})
const receiver = await startReceiver()
const admin = await loginToSuite(suite)
const { body: key } = await admin.post('/auth/api-keys', { name: 'soak' })
await admin.post('/webhooks', { url: receiver.url, events: ['deployment.finished'] })

const began = uptime()
const minute = () => (uptime() - began) / 60_000
const measurements = new Measurements(minute)
/** Milliseconds of the calls of this minute, by kind of call. */
let took = new Map<string, number[]>()
const endMinute = (ended: number) => {
  for (const [what, all] of took) {
    const sorted = all.sort((a, b) => a - b)
    const quantile = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
    measurements.add('calls', `${what}, p50`, 'ms', quantile(0.5), { minute: ended })
    measurements.add('calls', `${what}, p99`, 'ms', quantile(0.99), { minute: ended })
  }
  took = new Map()
}
/** The suite deletes the logs of its processes at its end. Only they can explain an unexpected answer. */
function keepLogs(): void {
  const folder = path.join(repositoryRoot, '.slipway/campaign/soak-logs')
  fs.rmSync(folder, { recursive: true, force: true })
  fs.cpSync(suite.folder, folder, { recursive: true, filter: (file) => file === suite.folder || file.endsWith('.log') })
  console.log(`soak: the logs of the processes are in ${folder}`)
}
const load = await startLoad({
  urls: [suite.url, suite.secondUrl],
  token: key.full_key,
  seed,
  onCall: (what, milliseconds) => took.set(what, [...(took.get(what) ?? []), milliseconds]),
})
const sampler = await startSampler({ suite, servers, names: NAMES, measurements, memoryFolder })
console.log(`soak: seed ${seed}, ${minutes} minutes`)
let exits: ServiceName[] = []
let whole = 0
let delivered = 0
const sampleToTheEnd = async () => {
  for (let next = began + SAMPLE_EVERY_MS; next <= began + minutes * 60_000; next += SAMPLE_EVERY_MS) {
    await sleep(Math.max(0, next - uptime()))
    exits = NAMES.filter((name) => suite.exitOf(name) !== null)
    // A process that has ended cannot be measured, and the suite does not start it again.
    if (exits.length > 0) break
    await sampler.sample()
    if (Math.floor(minute()) > whole) {
      endMinute(whole)
      whole = Math.floor(minute())
      delivered += receiver.received.splice(0).length
    }
  }
}
const ending = await Promise.race([sampleToTheEnd(), interrupted])
await load.stop()
await sampler.close()
if (load.unexpected.length > 0) keepLogs()
const complaints = await suite.stop().then(
  () => [],
  (error: Error) => [error.message],
)
await receiver.close()
await stopServers(servers)
fs.rmSync(memoryFolder, { recursive: true })
if (ending === 'interrupted') {
  console.log('soak: interrupted')
  process.exit(1)
}

const soak: Soak = {
  seed,
  minutes,
  warmUp,
  delivered,
  calls: load.counts,
  unexpected: load.unexpected.map(({ purpose, status, code, message, requestId, sentAt, answeredAt }) => {
    const [minutes, milliseconds] = [((sentAt - began) / 60_000).toFixed(1), Math.round(answeredAt - sentAt)]
    return `${purpose} ${requestId} at minute ${minutes}, after ${milliseconds} ms: ${status} ${code} ${message}`
  }),
  ended: [...exits, ...complaints.map((complaint) => complaint.split('\n')[0] ?? '')],
  series: measurements.trends(warmUp, Math.floor(minutes)),
}
const growing = soak.series.filter(({ verdict, isJudged }) => verdict === 'growing' && isJudged)
for (const { place, name, unit, mean, slope, low, high } of growing) {
  const numbers = [mean, slope, low, high].map((value) => value.toPrecision(4))
  console.log(
    `GROWING ${place}, ${name} (${unit}): mean ${numbers[0]}, ${numbers[1]} an hour (${numbers[2]} to ${numbers[3]})`,
  )
}
for (const text of [...soak.unexpected, ...soak.ended]) console.log(`UNEXPECTED ${text}`)
const folder = path.join(repositoryRoot, '.slipway/campaign')
fs.mkdirSync(folder, { recursive: true })
fs.writeFileSync(path.join(folder, 'soak.json'), `${JSON.stringify(soak, null, 1)}\n`)
fs.writeFileSync(path.join(folder, 'soak.md'), `${describeSoak(soak)}\n`)
console.log(
  `soak: ${soak.series.length} series, ${growing.length} growing, ${soak.unexpected.length} unexpected answers: ${path.join(folder, 'soak.md')}`,
)
process.exit(growing.length + soak.unexpected.length + soak.ended.length === 0 ? 0 : 1)
