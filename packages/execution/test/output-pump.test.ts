import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { OutputPump } from '../src/index.ts'

/** This process gets no turn for so long, as on a machine that has too much to do. */
const stall = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** What the pump reads of a command that writes while nobody looks, and is said to have ended before. */
async function readStalled(script: string): Promise<number> {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child, 'spawn')
  let bytes = 0
  const pump = new OutputPump(child.stdout, (chunk) => {
    bytes += chunk.length
  })
  pump.ended()
  // The pump waits from here on.
  await Promise.resolve()
  await Promise.resolve()
  stall(1_500)
  await pump.finished
  child.stdout.destroy()
  return bytes
}

test('output that waits to be read when the time for it is over is read', async () => {
  expect(await readStalled('sleep 0.4; echo late')).toBe(5)
})

test('also where it is more than is read at once, and more keeps the stream open', async () => {
  expect(await readStalled('sleep 0.4; head -c 60000 /dev/zero; sleep 3 & exit')).toBe(60_000)
}, 60_000)
