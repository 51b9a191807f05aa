import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from '@jest/globals'
import { waitFor } from '@slipway/testing'
import { OutputPump } from '../src/output-pump.ts'

/** Blocks this process until the file exists, as on an overloaded machine. */
function stallUntil(file: string): void {
  const since = performance.now()
  while (!fs.existsSync(file) && performance.now() - since < 60_000) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
}

/** Returns the count of bytes that the pump reads of a command that writes while this process is blocked. */
async function readStalled(write: string, afterwards = ''): Promise<number> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-pump-'))
  const written = path.join(folder, 'written')
  // The grace of the pump is over when the command writes.
  const script = `sleep 0.4; ${write}; touch ${written}; ${afterwards}`
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
  stallUntil(written)
  await pump.finished
  child.stdout.destroy()
  fs.rmSync(folder, { recursive: true })
  return bytes
}

test('output that arrived during a stall is read even after the grace', async () => {
  expect(await readStalled('echo late')).toBe(5)
})

test('all output that arrived during a stall is read, even if the stream stays open', async () => {
  expect(await readStalled('head -c 60000 /dev/zero', 'sleep 3 & exit')).toBe(60_000)
})

test('output is read until the end of the grace and no longer', async () => {
  const child = spawn('sh', ['-c', 'echo begun; sleep 0.5; echo in time; sleep 60; echo late'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  let output = ''
  const pump = new OutputPump(child.stdout, (chunk) => {
    output += chunk
  })
  await waitFor(() => output !== '', { what: 'the start of the command' })
  pump.ended(5_000)
  await pump.finished
  child.stdout.destroy()
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  expect(output).toBe('begun\nin time\n')
})

test('two streams are read by turns, in small pieces', async () => {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  streams.stdout.end(Buffer.alloc(20_000, 'o'))
  streams.stderr.end(Buffer.alloc(20_000, 'e'))
  let order = ''
  const sink = (chunk: Buffer) => {
    order += chunk.toString('latin1', 0, 1)
    expect(chunk.length).toBeLessThanOrEqual(4_096)
  }
  const pumps = Object.values(streams).map((stream) => new OutputPump(stream, sink))
  await Promise.all(pumps.map(({ finished }) => finished))
  expect(order).toBe('oeoeoeoeoe')
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
