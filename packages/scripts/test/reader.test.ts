import { afterAll, expect, test } from '@jest/globals'
import { ScriptReader, UnreadableScript } from '../src/index.ts'

const reader = new ScriptReader()
afterAll(() => reader.close())

test('a thread reads a script', async () => {
  const { template } = await reader.read('echo {{ name }}', 'sh')
  expect(template.places).toEqual([{ name: 'name', start: 5, end: 15, encoding: 'shell-word', line: 1, column: 6 }])
})

test.each(['(', '((', '[[ ', 'a', '${a:', '<<E ', '"', '{{ a }}', '$(', '`', '"$(', '{{a}}"', 'if ', 'case a in '])(
  '64 KiB of %s are read or refused, and the next script is read',
  async (token) => {
    const script = token.repeat(Math.floor(65_536 / token.length))
    const read = await reader.read(script, 'bash').catch((error: unknown) => error)
    if (read instanceof Error) expect(read).toBeInstanceOf(UnreadableScript)
    expect((await reader.read('echo {{ a }}', 'sh')).template.places).toHaveLength(1)
  },
)

test('a syntax error has its place', async () => {
  const { warnings } = await reader.read('echo a\nif true; then\n', 'sh')
  expect(warnings).toMatchObject([{ line: expect.any(Number), message: 'this cannot be read as sh' }])
})
