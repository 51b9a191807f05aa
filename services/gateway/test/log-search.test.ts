import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Queryable } from '@slipway/database'
import { stepId } from '@slipway/domain'
import { sqlOf, valuesOf, waitForValue } from '@slipway/testing'
import { createLogReader } from '../src/deployments/history.ts'
import { addDeployment } from './deployment-rows.ts'
import { addTenant, type Client, clientOf, refusal, refused, startGateway, type TestGateway } from './setup.ts'

const TARGETS = 3
const ACTIONS = 2
const LINES = 4_000
/** Small enough for far more chunks than one statement reads. */
const CHUNK = 9

let gateway: TestGateway
let admin: Client
let id: string
let target: { id: string; sqid: string }
let action: string

const TEXTS = ['Copying part', '\u001b[31mERR\u001b[1;32mOR\u001b[0m: disk', '100% of C:\\x_y "quoted"', 'Grüße, ÄRGER']

const line = (number: number) => ({
  t: 1_700_000_000_000 + number,
  ...(number % 13 === 12 ? { i: null, a: null, s: 's' } : { i: number % TARGETS, a: Math.floor(number / 7) % ACTIONS }),
  ...(number % 13 === 12 ? {} : { s: number % 5 === 0 ? 'e' : 'o' }),
  l: number % 5 === 0 ? 'error' : number % 13 === 12 ? 'warning' : 'info',
  m: `${TEXTS[number % TEXTS.length]} ${number}`,
})
const ALL = Array.from({ length: LINES }, (_, number) => ({ number, ...line(number) }))

beforeAll(async () => {
  gateway = await startGateway()
  admin = clientOf(gateway, gateway.adminToken)
  id = await addDeployment(gateway.database, { targets: TARGETS, actions: ACTIONS })
  target = (await admin.send('createTarget', '/targets', { name: 'one', connection: { type: 'local' } })).body
  await gateway.database.query(
    'UPDATE deployment_targets SET target_id = $2 WHERE deployment_id = $1 AND target_index = 1',
    [id, target.id],
  )
  const { rows } = await gateway.database.query<{ action_id: string }>(
    'SELECT action_id FROM deployment_actions WHERE deployment_id = $1 AND action_index = 1',
    [id],
  )
  action = rows[0]?.action_id ?? ''
  await store(id)
})
afterAll(() => gateway.close())

async function store(deployment: string): Promise<void> {
  const firsts = Array.from({ length: Math.ceil(LINES / CHUNK) }, (_, n) => n * CHUNK)
  const chunks = firsts.map((first) => ALL.slice(first, first + CHUNK).map(({ number }) => line(number)))
  await gateway.database.query(
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
     SELECT $1, first, jsonb_array_length(chunk::jsonb), chunk::jsonb FROM unnest($2::bigint[], $3::text[]) AS c (first, chunk)`,
    [deployment, firsts, chunks.map((chunk) => JSON.stringify(chunk))],
  )
}

const read = async (query: Record<string, string | number>, deployment = id) => {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]))
  const response = await admin.send('listDeploymentLogs', `/deployments/${deployment}/logs/history?${text}`)
  const header = (name: string) => Number(response.headers[name])
  return {
    response,
    numbers: response.body.map?.(({ metadata }: { metadata: { seq: number } }) => metadata.seq) as number[],
    ends: { first: header('x-log-first'), lines: header('x-log-lines'), next: header('x-log-next') },
  }
}

/** Reads all pages of a search. */
async function search(filter: Record<string, string>, limit = 1_000): Promise<number[]> {
  const found: number[] = []
  for (let from = 0; ; ) {
    const { numbers, ends } = await read({ ...filter, from, limit })
    expect(numbers.length).toBeLessThanOrEqual(limit)
    expect(ends).toMatchObject({ first: 0, lines: LINES })
    found.push(...numbers)
    if (ends.next === LINES) return found
    expect(ends.next).toBeGreaterThan(from)
    from = ends.next
  }
}

type Line = (typeof ALL)[number]
const matching = (fits: (line: Line) => boolean) => ALL.filter(fits).map(({ number }) => number)

describe('a search finds exactly the lines that match', () => {
  const cases: [string, () => Record<string, string>, (line: Line) => boolean][] = [
    ['text in any case', () => ({ search: 'COPYING PART 4' }), ({ m }) => m.startsWith('Copying part 4')],
    ['letters beyond ASCII', () => ({ search: 'grüSSE, är' }), () => false],
    ['letters beyond ASCII, in any case', () => ({ search: 'GRÜßE, är' }), ({ m }) => m.startsWith('Grüße')],
    ['text across a change of colour', () => ({ search: 'error: disk' }), ({ m }) => m.includes('disk')],
    ['no colour code', () => ({ search: '[31m' }), () => false],
    ['wildcards of LIKE as plain characters', () => ({ search: '0% OF c:\\x_y "q' }), ({ m }) => m.startsWith('100%')],
    ['no text by a wildcard', () => ({ search: 'C%opying' }), () => false],
    ['a target', () => ({ target_id: target.id }), ({ i }) => i === 1],
    ['a target by its SqId', () => ({ target_id: target.sqid }), ({ i }) => i === 1],
    ['an action', () => ({ action_id: action }), ({ a }) => a === 1],
    ['a step', () => ({ step_id: stepId(id, 2, 1) }), ({ i, a }) => i === 2 && a === 1],
    [
      'a step and its target',
      () => ({ step_id: stepId(id, 1, 0), target_id: target.id }),
      (l) => l.i === 1 && l.a === 0,
    ],
    ['a step of another target', () => ({ step_id: stepId(id, 2, 0), target_id: target.id }), () => false],
    ['a target of another deployment', () => ({ target_id: 'b0a5b6f0-9b7e-4d6a-8f43-0d4c3c1f3f55' }), () => false],
    ['a level', () => ({ level: 'error' }), ({ l }) => l === 'error'],
    ['an origin', () => ({ stream: 'system' }), ({ s }) => s === 's'],
    [
      'all conditions together',
      () => ({ search: 'part', target_id: target.id, action_id: action, level: 'error', stream: 'stderr' }),
      ({ m, i, a, l }) => m.startsWith('Copying part') && i === 1 && a === 1 && l === 'error',
    ],
  ]
  test.each(cases)('%s', async (_, filter, fits) => {
    expect(await search(filter())).toEqual(matching(fits))
  })

  test('pages of any size together have the same lines', async () => {
    for (const limit of [40, 333]) {
      expect(await search({ level: 'warning' }, limit)).toEqual(matching(({ l }) => l === 'warning'))
    }
  })
})

test('looking backward returns the last lines that match, in the order of their numbers', async () => {
  const page = async (query: Record<string, string | number>) => {
    const { numbers, ends } = await read(query)
    return [numbers, ends.next]
  }
  const errors = matching(({ l }) => l === 'error')
  expect(await page({ before: LINES + 10, limit: 3 })).toEqual([[LINES - 3, LINES - 2, LINES - 1], LINES - 3])
  expect(await page({ before: LINES, level: 'error', limit: 3 })).toEqual([errors.slice(-3), errors.at(-3)])
  expect(await page({ before: 11, level: 'error' })).toEqual([[0, 5, 10], 0])
  expect(await page({ before: 11, target_id: 'b0a5b6f0-9b7e-4d6a-8f43-0d4c3c1f3f55' })).toEqual([[], 0])
})

describe('the log as text', () => {
  const text = async (query: Record<string, string>) => {
    const path = `/deployments/${id}/logs/text?${new URLSearchParams(query)}`
    return await admin.send('readDeploymentLogText', path)
  }

  test('has the output of every line, with its escape sequences', async () => {
    const { text: body, headers } = await text({ raw: 'true' })
    expect(body).toBe(ALL.map(({ m }) => `${m}\n`).join(''))
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="deployment-${id}.log"`,
      'x-log-first': '0',
      'x-log-lines': `${LINES}`,
    })
  })

  test('has time, target and readable text of the lines that match, from a number on', async () => {
    const { text: body } = await text({ search: 'error: disk', from: '3980' })
    const lines = ALL.filter(({ number, m }) => number >= 3_980 && m.includes('disk'))
    const targets = ['target-0', 'target-1', 'target-2']
    expect(body).toBe(
      lines
        .map(({ t, i, number }) => {
          const target = i === null ? '' : targets[i]
          return `${new Date(t).toISOString()}\t${target}\tERROR: disk ${number}\n`
        })
        .join(''),
    )
  })

  test('of another tenant is 404', async () => {
    const { admin: other } = await addTenant(gateway, 'another')
    const answer = await other.send('readDeploymentLogText', `/deployments/${id}/logs/text`)
    expect(refusal(answer)).toEqual(refused(404, 'NOT_FOUND'))
    expect(answer.headers).not.toHaveProperty('content-disposition')
  })
})

test('an entry of a search equals the entry of the whole log', async () => {
  const { response } = await read({ search: 'part 1004', limit: 1 })
  const { response: whole } = await read({ from: 1_004, limit: 1 })
  expect(response.body).toEqual(whole.body)
  expect(response.body).toHaveLength(1)
})

test('each answer has the first line, the number of lines and the start of the next page', async () => {
  const ends = async (query: Record<string, string | number>) => (await read(query)).ends
  expect(await ends({})).toEqual({ first: 0, lines: LINES, next: 100 })
  expect(await ends({ offset: 10, limit: 5 })).toEqual({ first: 0, lines: LINES, next: 15 })
  expect(await ends({ from: 10, limit: 5 })).toEqual({ first: 0, lines: LINES, next: 15 })
  expect(await ends({ from: LINES - 3 })).toEqual({ first: 0, lines: LINES, next: LINES })
  expect(await ends({ from: LINES + 10 })).toEqual({ first: 0, lines: LINES, next: LINES })
  expect(await ends({ from: LINES + 10, level: 'error' })).toEqual({ first: 0, lines: LINES, next: LINES })
  expect(await ends({ search: 'part 8', limit: 1 })).toEqual({ first: 0, lines: LINES, next: 9 })
  const empty = await addDeployment(gateway.database)
  for (const filter of [{}, { search: 'x' }]) {
    expect((await read(filter, empty)).ends).toEqual({ first: 0, lines: 0, next: 0 })
  }
})

test('after retention dropped lines, numbers stay, and a search begins at the first stored line', async () => {
  const kept = await addDeployment(gateway.database, { targets: TARGETS, actions: ACTIONS })
  await store(kept)
  await gateway.database.query('DELETE FROM log_chunks WHERE deployment_id = $1 AND first_line < 1800', [kept])
  const page = await read({ from: 5, limit: 2 }, kept)
  expect([page.numbers, page.ends]).toEqual([[1_800, 1_801], { first: 1_800, lines: LINES, next: 1_802 }])
  const found = await read({ search: 'copying', limit: 3 }, kept)
  expect([found.numbers, found.ends]).toEqual([[1_800, 1_804, 1_808], { first: 1_800, lines: LINES, next: 1_809 }])
  expect((await read({ offset: 1, level: 'error', limit: 1 }, kept)).numbers).toEqual([1_805])
})

test.each([
  ['offset=1&from=1', '/from'],
  ['before=1&from=1', '/from'],
  ['before=1&offset=1', '/before'],
  ['level=debug', '/level'],
  ['stream=both', '/stream'],
  ['step_id=1', '/step_id'],
  ['target_id=?', '/target_id'],
  ['search=', '/search'],
  [`search=${'x'.repeat(256)}`, '/search'],
  ['query=x', '/query'],
])('%s is refused', async (query, path) => {
  const response = await admin.send('listDeploymentLogs', `/deployments/${id}/logs/history?${query}`)
  expect(response.status).toBe(400)
  expect(JSON.stringify(response.body)).toContain(`query${path}`)
})

test('searching the log of another tenant is 404', async () => {
  const { admin: other } = await addTenant(gateway, 'other')
  const path = `/deployments/${id}/logs/history?search=part`
  expect(refusal(await other.send('listDeploymentLogs', path))).toEqual(refused(404, 'NOT_FOUND'))
})

test('searches of one tenant delay only that tenant, and too many of them are refused', async () => {
  const { id: tenant_id } = await addTenant(gateway, 'busy')
  const theirs = await addDeployment(gateway.database, { tenant_id, targets: TARGETS, actions: ACTIONS })
  await store(theirs)
  let held = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow: Queryable = {
    async query(query, values) {
      if (sqlOf(query).includes('gateway.history.search-lines') && valuesOf(query, values).includes(theirs)) {
        held += 1
        await released
      }
      return gateway.asGateway.query(query, values)
    },
  }
  const { listLogs } = createLogReader(slow)
  const searchOf = (deployment: string, tenant: string | null) =>
    listLogs({ caller: { tenant_id: tenant }, params: { id: deployment }, query: { search: 'part' } })
  const answers = Array.from({ length: 53 }, () =>
    searchOf(theirs, tenant_id).then(
      ({ status }) => status,
      ({ status }) => status,
    ),
  )
  await waitForValue(
    'searches that run',
    () => held,
    (count) => count > 0,
  )
  expect((await searchOf(id, null)).status).toBe(200)
  expect(await Promise.race(answers)).toBe(503)
  release()
  expect((await Promise.all(answers)).filter((status) => status === 200)).toHaveLength(52)
})
