import { PassThrough } from 'node:stream'
import { expect, test } from '@jest/globals'
import { TIMED_OUT, withTimeout } from '@slipway/runtime'
import { ChannelReader } from '../src/transports/ssh/channel-reader.ts'
import { SshOutput } from '../src/transports/ssh/ssh-output.ts'

test('a command is over after its last output was consumed, even if its other stream ends first', async () => {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const readers = { stdout: new ChannelReader(stdout), stderr: new ChannelReader(stderr) }
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
  const sshOutput = new SshOutput(readers, 'mark', io)
  const finished = sshOutput.over.then(() => sshOutput.finish())
  stdout.write('mark ready\nlast\nmark over 0\n')
  stderr.write('mark ready\nmark over\n')
  expect(await withTimeout(1_000, finished)).toBe(TIMED_OUT)
  take()
  await finished
  expect(output).toBe('last\n')
  expect(sshOutput.ending).toBe('0')
})
