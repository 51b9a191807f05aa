// How `apply` asks the server about more changes than one call takes.
import { expect, test } from '@jest/globals'
import { SlipwayClient } from '@slipway/client'
import { sendJson, startFakeServer } from '@slipway/testing'
import fc from 'fast-check'
import { type CheckItem, checkChanges, splitItems } from '../src/files/check.ts'

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const reports: string[] = []
const item = (change: object): CheckItem => ({
  change: change as CheckItem['change'],
  report: () => reports.push(JSON.stringify(change)),
})
/** Each record refers to records that come before it. */
const records = fc
  .array(
    fc.record({
      what: fc.constantFrom('create', 'publish', 'change', 'delete'),
      seeds: fc.array(fc.nat(), { maxLength: 3 }),
    }),
    {
      minLength: 1,
      maxLength: 40,
    },
  )
  .map((all) =>
    all
      .toSorted((a, b) => Number(a.what === 'delete') - Number(b.what === 'delete'))
      .map(({ what, seeds }, n) =>
        what === 'delete'
          ? item({ what, kind: 'target', id: uuid(n) })
          : item({
              what,
              kind: 'sequence',
              id: uuid(n),
              body: { uses: n === 0 ? [] : seeds.map((seed) => uuid(seed % n)) },
            }),
      ),
  )

test('each change is reported once, after everything that it refers to, in the order of the files', () => {
  fc.assert(
    fc.property(records, fc.integer({ min: 1, max: 10 }), (items, changes) => {
      reports.length = 0
      const { pieces, unchecked } = splitItems(items, { changes, bytes: 1_000_000 })
      for (const piece of pieces) {
        const ids = piece.map(({ change }) => change.id)
        expect(ids).toEqual([...new Set(ids)].sort())
        for (const { change } of piece) {
          for (const used of 'body' in change ? (change.body as { uses: string[] }).uses : []) {
            const maker = items.find((one) => one.change.id === used)?.change.what
            if (maker === 'create' || maker === 'publish') expect(ids).toContain(used)
          }
        }
        for (const { report } of piece) report(null, [])
      }
      for (const { report } of unchecked) report(null, [])
      expect(reports.toSorted()).toEqual(items.map(({ change }) => JSON.stringify(change)).toSorted())
    }),
    { numRuns: 200 },
  )
})

test('no piece is larger than the server takes, and what is left out of all is named', () => {
  fc.assert(
    fc.property(
      records,
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 300, max: 2_000 }),
      (items, changes, bytes) => {
        const { pieces, unchecked } = splitItems(items, { changes, bytes })
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(10 * changes)
          const body = { changes: piece.map(({ change }) => change), assume_permissions: true }
          expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(4 * bytes)
        }
        const checked = new Set(pieces.flat().map(({ change }) => change))
        expect(unchecked.map(({ change }) => change)).toEqual(
          items.map(({ change }) => change).filter((change) => !checked.has(change)),
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('deletions that do not fit are left out, the others are checked after all changes', () => {
  const change = (n: number) => item({ what: 'change', kind: 'target', id: uuid(n), body: { text: 'ü'.repeat(100) } })
  const deletion = (n: number) => item({ what: 'delete', kind: 'target', id: uuid(n) })
  const changes = Array.from({ length: 8 }, (_, n) => change(n))
  const deletions = Array.from({ length: 5 }, (_, n) => deletion(100 + n))
  const { pieces, unchecked } = splitItems([...changes, ...deletions], { changes: 1, bytes: 100_000 })
  expect(pieces.at(-1)?.map(({ change }) => change.id)).toEqual(
    [...changes, ...deletions.slice(0, 2)].map((one) => one.change.id),
  )
  expect(unchecked).toEqual(deletions.slice(2))
  expect(splitItems([...changes, ...deletions], { changes: 12, bytes: 800 }).unchecked).toEqual(deletions)
})

test('a file set that fits is one call', () => {
  const items = [
    item({ what: 'create', kind: 'action', id: uuid(1) }),
    item({ what: 'delete', kind: 'action', id: uuid(2) }),
  ]
  expect(splitItems(items, { changes: 2, bytes: 1_000 })).toEqual({ pieces: [items], unchecked: [] })
  expect(splitItems(items, { changes: 2, bytes: 400 }).pieces).toHaveLength(1)
  expect(splitItems(items, { changes: 1, bytes: 400 }).pieces).toHaveLength(2)
})

test.each([
  [503, 'SERVICE_UNAVAILABLE'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [400, 'INVALID_BODY'],
])('a server that answers %i %s to so many changes is asked about fewer', async (status, code) => {
  const sizes: number[] = []
  const server = await startFakeServer({
    'POST /catalog/check'(_request, response, body) {
      const { changes } = body as { changes: object[] }
      sizes.push(changes.length)
      if (changes.length > 30) sendJson(response, status, { error: { code, message: 'too much' } })
      else
        sendJson(response, 200, {
          assumed_permissions: false,
          results: changes.map(() => ({ error: null, warnings: [] })),
        })
    },
  })
  try {
    reports.length = 0
    const items = Array.from({ length: 60 }, (_, n) => item({ what: 'create', kind: 'target', id: uuid(n), body: {} }))
    const client = new SlipwayClient({ url: server.url, token: 'token', retryForMs: 0 })
    expect(await checkChanges(client, items, { assumePermissions: false })).toEqual({ isAssumed: false, unchecked: [] })
    expect(sizes).toEqual([60, 25, 25, 10])
    expect(reports).toHaveLength(60)
  } finally {
    await server.close()
  }
})
