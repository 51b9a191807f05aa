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
      const pieces = splitItems(items, { changes, bytes: 1_000_000 })
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
      expect(reports.toSorted()).toEqual(items.map(({ change }) => JSON.stringify(change)).toSorted())
    }),
    { numRuns: 200 },
  )
})

test('a file set that fits is one call', () => {
  const items = [
    item({ what: 'create', kind: 'action', id: uuid(1) }),
    item({ what: 'delete', kind: 'action', id: uuid(2) }),
  ]
  expect(splitItems(items, { changes: 2, bytes: 1_000 })).toEqual([items])
  expect(splitItems(items, { changes: 2, bytes: 10 })).toHaveLength(2)
})

test('a server that has no time for so many changes is asked about fewer', async () => {
  const sizes: number[] = []
  const server = await startFakeServer({
    'POST /catalog/check'(_request, response, body) {
      const { changes } = body as { changes: object[] }
      sizes.push(changes.length)
      if (changes.length > 30) sendJson(response, 503, { error: { code: 'SERVICE_UNAVAILABLE', message: 'too long' } })
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
    expect(await checkChanges(client, items, { assumePermissions: false })).toBe(false)
    expect(sizes).toEqual([60, 25, 25, 10])
    expect(reports).toHaveLength(60)
  } finally {
    await server.close()
  }
})
