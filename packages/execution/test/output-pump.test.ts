import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { OutputPump } from '../src/output-pump.ts'

/** Blocks this process, as on an overloaded machine. */
const stall = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Returns the count of bytes that the pump reads of a command that ends while this process is blocked. */
async function readStalled(script: string): Promise<number> {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child, 'spawn')
  let bytes = 0
  const pump = new OutputPump(child.stdout, (chunk) => {
    bytes += chunk.length
  })
  pump.ended()
  // The pump now waits.
  await Promise.resolve()
  await Promise.resolve()
  stall(1_500)
  await pump.finished
  child.stdout.destroy()
  return bytes
}

test('output that arrived during a stall is read even after the grace', async () => {
  expect(await readStalled('sleep 0.4; echo late')).toBe(5)
})

test('all output that arrived during a stall is read, even if the stream stays open', async () => {
  expect(await readStalled('sleep 0.4; head -c 60000 /dev/zero; sleep 3 & exit')).toBe(60_000)
})

test('output is read until the end of the grace and no longer', async () => {
  const child = spawn('sh', ['-c', 'sleep 0.5; echo in time; sleep 1.5; echo late'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  const pump = new OutputPump(child.stdout, (chunk) => {
    output += chunk
  })
  pump.ended(1_200)
  await pump.finished
  child.stdout.destroy()
  expect(output).toBe('in time\n')
})

test('an endless writer does not keep the pump from finishing', async () => {
  const child = spawn('sh', ['-c', 'exec yes'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const pump = new OutputPump(child.stdout, () => {})
  const since = performance.now()
  pump.ended(300)
  await pump.finished
  expect(performance.now() - since).toBeLessThan(30_000)
  child.stdout.destroy()
  child.kill('SIGKILL')
})
