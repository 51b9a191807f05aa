// How fast output is masked, and how long the event loop of an instance waits meanwhile.
//
//     node --conditions=@slipway/source --import=./scripts/jest/register.mjs bench/masking.mjs [MiB] [secrets]

import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'

const { maskingShare } = await import('../services/orchestration-instance/src/output/event-loop-share.ts')
const { LineSplitter } = await import('../services/orchestration-instance/src/output/line-splitter.ts')
const { Masker } = await import('../services/orchestration-instance/src/output/masking.ts')

const [mebibytes = 128, count = 1_000] = process.argv.slice(2).map(Number)
/** A pipe gives as much at once. */
const CHUNK = 64 * 1024
/** An instance decodes so much at once. */
const SLICE = 8 * 1024

const cpuMs = (since) => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

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
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const splitter = new LineSplitter(masker)
  let lines = 0
  let written = 0
  const cpu = process.cpuUsage()
  const began = performance.now()
  while (written < bytes) {
    for (let at = 0; at < output.length && written < bytes; at += CHUNK) {
      const chunk = output.subarray(at, at + CHUNK)
      for (let from = 0; from < chunk.length; from += SLICE) {
        let slice = chunk.subarray(from, from + SLICE)
        do {
          lines += (await maskingShare.run((deadline) => splitter.write(slice, deadline))).length
          slice = Buffer.alloc(0)
        } while (splitter.isBehind)
      }
      written += chunk.length
      // A pipe gives one chunk in each turn of the event loop.
      await setImmediate()
    }
  }
  lines += splitter.end().length
  const seconds = (performance.now() - began) / 1_000
  const used = cpuMs(cpu)
  delay.disable()
  const size = written / 1024 / 1024
  const rates = `${(size / seconds).toFixed(1)} MiB/s, ${((size * 1_000) / used).toFixed(1)} MiB per second of CPU`
  console.log(`${name}: ${rates}, ${lines} lines, event loop at most ${(delay.max / 1e6).toFixed(1)} ms`)
}

const build = async (name, values) => {
  let longest = 0
  const run = maskingShare.run.bind(maskingShare)
  // Reading the CPU time of each part is too slow for the other measurements.
  maskingShare.run = (part) =>
    run((deadline) => {
      const began = process.cpuUsage()
      const result = part(deadline)
      longest = Math.max(longest, cpuMs(began))
      return result
    })
  const before = process.cpuUsage()
  const masker = await Masker.build(values)
  maskingShare.run = run
  console.log(`masker of ${name}: ${cpuMs(before).toFixed(0)} ms of CPU, longest part ${longest.toFixed(1)} ms`)
  return masker
}

const masker = await build(`${count} secrets`, secrets)
for (const name of Object.keys(lineOf).slice(0, -1)) await measure(name, masker, mebibytes * 1024 * 1024)
await build(
  '2,000 values of 130 bytes',
  Array.from({ length: 2_000 }, () => randomBytes(65).toString('hex')),
)
await build(
  'two values of 120 KiB',
  [0, 1].map(() => randomBytes(60 * 1024).toString('hex')),
)
const attacked = await build('a JSON secret of 73 kB', [alike])
await measure('the beginning of secrets', attacked, Math.min(mebibytes, 4) * 1024 * 1024)
