// How fast output is masked, and how long the event loop of an instance waits meanwhile.
//
//     node --conditions=@slipway/source --import=./scripts/jest/register.mjs bench/masking.mjs [MiB] [secrets]

import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'

const { LineSplitter } = await import('../services/orchestration-instance/src/output/line-splitter.ts')
const { Masker } = await import('../services/orchestration-instance/src/output/masking.ts')

const [mebibytes = 128, count = 1_000] = process.argv.slice(2).map(Number)
/** An instance masks so much in one turn of its event loop. */
const CHUNK = 8 * 1024

const password = () => randomBytes(18).toString('base64')
const secrets = Array.from({ length: count }, password)
/** An object of many values with the same beginning: every place of such output may be the start of each. */
const alike = { values: Array.from({ length: 1_999 }, (_, n) => `${'a'.repeat(30)}${n}`) }

const words = 'deploying service to the target with version 1.4.0 and waiting for health check of port 8080'.split(' ')
const word = (n) => words[(n * 7 + (n >> 3)) % words.length]
const lineOf = {
  'ordinary log': (n) =>
    `2026-11-29T10:00:${String(n % 60).padStart(2, '0')}Z INFO ${Array.from({ length: 12 }, (_, i) => word(n + i)).join(' ')}`,
  'JSON lines': (n) =>
    JSON.stringify({
      time: `2026-11-29T10:00:${n % 60}Z`,
      level: 'info',
      message: word(n),
      id: n,
      path: `/srv/${word(n + 1)}/${n}`,
    }),
  'hex and base64': (n) => `${randomBytes(32).toString('hex')} ${randomBytes(48).toString('base64')} ${n}`,
  'escaped JSON and URLs': (n) =>
    `{\\"message\\":\\"${word(n)}\\\\n\\",\\"url\\":\\"https%3A%2F%2Fexample.com%2F${word(n)}%3Fq%3D${n}\\"}`,
  'secrets in each line': (n) =>
    `token=${secrets[n % secrets.length]} user=${word(n)} ${word(n + 1)} ${word(n + 2)} ${word(n + 3)}`,
  'the beginning of secrets': () => 'a'.repeat(100),
}

function outputOf(line) {
  const lines = []
  for (let size = 0, n = 0; size < 4 * 1024 * 1024; n += 1) {
    lines.push(line(n))
    size += lines[n].length + 1
  }
  return Buffer.from(`${lines.join('\n')}\n`)
}

async function measure(name, masker, bytes) {
  const output = outputOf(lineOf[name])
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const splitter = new LineSplitter(masker)
  let lines = 0
  let written = 0
  const cpu = process.cpuUsage()
  const began = performance.now()
  while (written < bytes) {
    for (let at = 0; at < output.length && written < bytes; at += CHUNK) {
      const chunk = output.subarray(at, at + CHUNK)
      lines += splitter.write(chunk).length
      written += chunk.length
      // A pipe gives one chunk in each turn of the event loop.
      await setImmediate()
    }
  }
  lines += splitter.end().length
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  delay.disable()
  const size = written / 1024 / 1024
  const rates = `${(size / seconds).toFixed(1)} MiB/s, ${((size * 1e6) / (user + system)).toFixed(1)} MiB per second of CPU`
  console.log(`${name}: ${rates}, ${lines} lines, event loop at most ${(delay.max / 1e6).toFixed(1)} ms`)
}

const began = performance.now()
const masker = new Masker(secrets)
console.log(`masker of ${count} secrets: ${(performance.now() - began).toFixed(0)} ms`)
for (const name of Object.keys(lineOf).slice(0, -1)) await measure(name, masker, mebibytes * 1024 * 1024)
const measureBuild = (name, values) => {
  const before = process.cpuUsage()
  const built = new Masker(values)
  const { user, system } = process.cpuUsage(before)
  console.log(`masker of ${name}: ${((user + system) / 1_000).toFixed(0)} ms of CPU`)
  return built
}
measureBuild(
  '2,000 values of 130 bytes',
  Array.from({ length: 2_000 }, () => randomBytes(65).toString('hex')),
)
measureBuild(
  'two values of 120 KiB',
  [0, 1].map(() => randomBytes(60 * 1024).toString('hex')),
)
const attacked = measureBuild('a JSON secret of 73 kB', [alike])
await measure('the beginning of secrets', attacked, Math.min(mebibytes, 4) * 1024 * 1024)
