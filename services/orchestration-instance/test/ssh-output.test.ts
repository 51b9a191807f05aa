import { PassThrough, Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { TIMED_OUT, withTimeout } from '@slipway/runtime'
import { ChannelReader } from '../src/transports/ssh/channel-reader.ts'
import { SshOutput } from '../src/transports/ssh/ssh-output.ts'

test('a command is over after its last output was consumed, even if its other stream ends first', async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const reader = new ChannelReader({ stdout, stderr })
  let take = () => {}
  const taken = new Promise<void>((resolve) => {
    take = resolve
  })
  let output = ''
  const io = {
    onOutput: async (_stream: string, chunk: Buffer) => {
      await taken
      output += chunk
    },
  }
  const sshOutput = new SshOutput(reader, 'mark', io)
  const finished = sshOutput.over.then(() => sshOutput.finish())
  stdout.write('mark ready\nlast\nmark over 0\n')
  stderr.write('mark ready\nmark over\n')
  expect(await withTimeout(1_000, finished)).toBe(TIMED_OUT)
  take()
  await finished
  expect(output).toBe('last\n')
  expect(sshOutput.ending).toBe('0')
})

test('the packets of both streams keep their order, and a slow sink makes the host wait', async () => {
  const read = () => {}
  const [stdout, stderr] = [new Readable({ read }), new Readable({ read })]
  const reader = new ChannelReader({ stdout, stderr })
  const order: string[] = []
  let take = () => {}
  reader.sink = (_stream, chunk) => {
    order.push(chunk.toString())
    if (order.length === 4) return new Promise<void>((resolve) => (take = resolve))
  }
  // From now on the streams flow.
  await setImmediate()
  for (const [n, stream] of [stdout, stderr, stderr, stdout].entries()) stream.push(String(n))
  await setImmediate()
  expect(order).toEqual(['0', '1', '2', '3'])
  for (let n = 0; n < 10; n++) stdout.push(Buffer.alloc(100_000))
  expect(stdout.isPaused() && stderr.isPaused()).toBe(true)
  stdout.push(null)
  stderr.push(null)
  take()
  await reader.ended
  expect(order).toHaveLength(14)
})
