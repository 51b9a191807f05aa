import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunTarget } from '@slipway/contracts'
import { type Sshd, startSshd } from '@slipway/testing'
import { FakeBridge } from './support/fake-bridge.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'

const bridge = new FakeBridge()
const instance = new TestInstance(bridge)
let sshd: Sshd
const SECRET = `hunter2-${randomUUID()}`

beforeAll(async () => {
  sshd = await startSshd()
  await bridge.listen()
  await instance.start()
})

afterAll(async () => {
  await instance.remove()
  await bridge.close()
  await sshd.stop()
  expect(bridge.problems).toEqual([])
})

/** Writes typical output to both streams, in pieces that cut characters and values, and stores each byte in a file. */
const PROGRAM = `
import os, sys, time
secret = os.environ['SLIPWAY_VAR_TOKEN'].encode()
folder = os.environ['SLIPWAY_VAR_FOLDER']
notes = {1: open(folder + '.stdout', 'wb'), 2: open(folder + '.stderr', 'wb')}
def write(fd, *pieces):
    for piece in pieces:
        notes[fd].write(piece)
        while piece:
            piece = piece[os.write(fd, piece):]
        time.sleep(0.002)
write(1, b'plain\\n', b'\\n', b'  two\\tblanks  \\r\\n')
write(2, b'first error\\n')
write(1, b'\\x1b[31mred\\x1b[0m and \\x1b[1;32mgreen\\x1b[0m\\n')
write(1, b' 10%\\r', b' 50%\\r', b'100%\\r', b'\\n')
write(1, b'\\xef\\xbb\\xbfmark\\n', 'Grüße 😀 日本\\n'.encode())
for byte in 'é😀日'.encode(): write(1, bytes([byte]))
write(1, b'\\n')
write(2, b'not text: \\xff\\xfe \\xc3\\x28 \\xe2\\x82 \\xf0\\x9f\\x98\\n', b'nul: \\x00.\\n')
write(1, b'the token is ' + secret[:9], secret[9:] + b', twice: ' + secret + secret + b'\\n')
write(2, b'x' * 65530 + secret + b'y' * 100000 + b'\\n')
write(1, ('é' * 100000).encode() + b'\\n', b'z' * 65536 + b'\\n', b'z' * 65537 + b'\\n')
for n in range(200):
    write(1, b'out %d\\n' % n) if n % 2 else write(2, b'err %d\\n' % n)
write(2, b'cut in the middle of \\xe2\\x82')
write(1, b'no newline at the end')
`

const MAX = 65_536

/** The expected log lines of the written bytes. It uses no code of the product. */
function expectedLines(bytes: Buffer): string[] {
  const text = new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(bytes)
    .replaceAll('\0', '\uFFFD')
    .replaceAll(SECRET + SECRET, '***')
    .replaceAll(SECRET, '***')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  // A terminal shows what follows a carriage return in place of what stood before it.
  const shown = lines.map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
  return shown.flatMap((line) => {
    const pieces: string[] = []
    let piece: string[] = []
    let size = 0
    for (const character of line) {
      const length = Buffer.byteLength(character)
      if (size + length > MAX) {
        pieces.push(piece.join(''))
        piece = []
        size = 0
      }
      piece.push(character)
      size += length
    }
    return [...pieces, piece.join('')]
  })
}

test.each(['local', 'ssh'])('over %s, the log has each byte that a command wrote, after masking', async (kind) => {
  const folder = path.join(instance.outside, `written-${kind}`)
  const connection: RunTarget['connection'] = kind === 'local' ? { type: 'local' } : sshd.connection
  const spec = specOf({
    sensitive: ['token'],
    override_variables: { token: SECRET, folder },
    targets: [{ name: kind, connection }],
    actions: [{ interpreter: 'python3', script: PROGRAM }],
  })
  await bridge.startRun(spec)
  expect(await bridge.finished(spec)).toMatchObject({ outcome: 'success' })
  const lines = bridge.lines(spec)
  for (const name of ['stdout', 'stderr'] as const) {
    const logged = lines.filter(({ stream }) => stream === name).map(({ text }) => text)
    expect(logged).toEqual(expectedLines(readFileSync(`${folder}.${name}`)))
  }
  expect(lines.map(({ line }) => line)).toEqual(lines.map((_, n) => n))
  expect(lines.filter(({ metadata }) => metadata?.['split'] === true)).toHaveLength(3 + 4 + 2)
})
