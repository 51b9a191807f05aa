import { expect, test } from '@jest/globals'
import { answerStream, Batches } from '../src/json-stream.ts'

async function textOf(body: object): Promise<{ whole: boolean; text: string }> {
  const answer = await answerStream(200, body)
  if ('json' in answer) return { whole: true, text: answer.json }
  if (!('chunks' in answer)) throw new Error('neither text nor chunks')
  let text = ''
  for await (const chunk of answer.chunks) text += chunk
  return { whole: false, text }
}

async function* later<T>(batches: T[][]): AsyncGenerator<T[]> {
  yield* batches
}

test.each([
  [
    'without batches',
    () => ({ a: [1, { b: null }], c: undefined, at: new Date(0) }),
    { a: [1, { b: null }], at: new Date(0) },
  ],
  ['with no batch', () => ({ a: new Batches([]) }), { a: [] }],
  ['with empty batches', () => ({ a: new Batches([[], []]), b: 1 }), { a: [], b: 1 }],
  [
    'with batches inside',
    () => ({
      x: 'é "',
      y: { none: undefined, z: { list: new Batches(later<unknown>([[1, 2], [], [{ three: 3 }]])) } },
      last: 0,
    }),
    { x: 'é "', y: { z: { list: [1, 2, { three: 3 }] } }, last: 0 },
  ],
  ['that is a list', () => new Batches([['a'], ['b']]), ['a', 'b']],
])('a small answer %s is sent whole', async (_, body, expected) => {
  const { whole, text } = await textOf(body())
  expect(whole).toBe(true)
  expect(text).toBe(JSON.stringify(expected))
})

test('a large answer is sent while its batches are produced', async () => {
  let made = 0
  function* batches() {
    for (; made < 1_000; made += 1) yield ['n'.repeat(1_000)]
  }
  const body = { list: new Batches(batches()), end: true }
  const answer = await answerStream(200, body)
  expect(made).toBeLessThan(250)
  if (!('chunks' in answer)) throw new Error('sent whole')
  let text = ''
  for await (const chunk of answer.chunks) text += chunk
  expect(JSON.parse(text)).toEqual({ list: Array(1_000).fill('n'.repeat(1_000)), end: true })
})

test('an error before a large answer begins is thrown', async () => {
  async function* failing(): AsyncGenerator<string[]> {
    yield ['a']
    throw new Error('lost')
  }
  await expect(answerStream(200, { list: new Batches(failing()) })).rejects.toThrow('lost')
})
