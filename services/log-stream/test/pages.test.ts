import { expect, test } from '@jest/globals'
import type { StoredLine } from '@slipway/contracts'
import type { Chunk } from '../src/deployments/queries.ts'
import { PlanIndex } from '../src/streams/frames.ts'
import { Pages } from '../src/streams/pages.ts'
import { fromLine } from '../src/streams/recent-frames.ts'

const line = (n: number): StoredLine => ({ t: 0, i: null, a: null, s: 's', l: 'info', m: `line ${n}` })
const chunk = (first_line: number, count: number): Chunk => ({
  first_line,
  lines: Array.from({ length: count }, (_, n) => line(first_line + n)),
})

/** Pages over `read`, and the line numbers of each read. */
function pagesOf(read: (from: number) => Chunk[]) {
  const asked: number[] = []
  const pages = new Pages(
    new PlanIndex('01a1ffba-aada-76dd-b5f8-679760b9e2da', [], [{ version: '1.0.0' }]),
    async (from) => {
      asked.push(from)
      return read(from)
    },
  )
  return { pages, asked }
}

test('concurrent calls for a page share one read', async () => {
  const { pages, asked } = pagesOf((from) => [chunk(from, 10), chunk(from + 10, 10)])
  const taken = await Promise.all(Array.from({ length: 100 }, () => pages.from(0, 20)))
  expect(new Set(taken).size).toBe(1)
  await pages.from(20, 40)
  expect(asked).toEqual([0, 20])
})

test('a read that failed or found nothing is repeated', async () => {
  let broken = true
  const { pages, asked } = pagesOf((from) => {
    if (broken) throw new Error('no connection')
    return asked.length === 2 ? [] : [chunk(from, 1)]
  })
  await expect(pages.from(0, 1)).rejects.toThrow('no connection')
  broken = false
  expect(await pages.from(0, 1)).toEqual([])
  expect(await pages.from(0, 1)).toHaveLength(1)
  expect(asked).toEqual([0, 0, 0])
})

test('a range of lines can be taken from a longer page', async () => {
  const { pages } = pagesOf((from) => [chunk(from, 10)])
  const [lines] = await pages.from(5, 15)
  const messages = (bytes: Buffer | undefined) =>
    [...String(bytes).matchAll(/"message":"line (\d+)"/g)].map(([, n]) => n)
  expect(messages(lines && fromLine(lines, 7, 10))).toEqual(['7', '8', '9'])
  expect(messages(lines && fromLine(lines, 0, 6))).toEqual(['5'])
  expect(messages(lines && fromLine(lines, 14))).toEqual(['14'])
  expect(messages(lines && fromLine(lines, 20, 30))).toEqual([])
})
