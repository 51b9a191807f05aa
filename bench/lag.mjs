// Loaded into every service (NODE_OPTIONS=--import): on SIGUSR2 tells how late its event loop has been and how much memory
// it took since the last time, as BENCH_FOLDER/PID.json.
import fs from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const EVERY_MS = 10
const FULL_PEAK = '5'

if (isMainThread && process.env.BENCH_FOLDER) {
  const delay = monitorEventLoopDelay({ resolution: EVERY_MS })
  delay.enable()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - EVERY_MS)
  process.on('SIGUSR2', () => {
    const status = fs.readFileSync('/proc/self/status', 'utf8')
    const kib = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1])
    const told = {
      p99: late(delay.percentile(99)),
      max: late(delay.max),
      peak_mib: kib('VmHWM') / 1024,
      rss_mib: kib('VmRSS') / 1024,
    }
    collect()
    const { heapUsed, external } = process.memoryUsage()
    told.used_mib = (heapUsed + external) / 1024 / 1024
    delay.reset()
    fs.writeFileSync('/proc/self/clear_refs', FULL_PEAK)
    const file = `${process.env.BENCH_FOLDER}/${process.pid}.json`
    fs.writeFileSync(`${file}.new`, JSON.stringify(told))
    fs.renameSync(`${file}.new`, file)
  })
}
