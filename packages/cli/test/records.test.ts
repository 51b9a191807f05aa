import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { parse } from 'yaml'
import { runSlipway } from './slipway.ts'

const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const OTHER = '018f6b1e-6d1c-7c3a-8a51-0f1f5c1b2a3e'
const TENANT = '118f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'
const page = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
const times = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-07-01T12:30:00Z' }
const environment = (id: string, name: string, tenant_id: string | null) => ({
  id,
  sqid: `sqid${name}`,
  name,
  tenant_id,
  description: null,
  concurrency: null,
  instance_selector: null,
  sensitive_variables: [],
  variables: { color: 'red', port: 80 },
  ...times,
})
const environments = [environment(ID, 'blue', TENANT), environment(OTHER, 'green', null)]
/** The name of a third record is an id. */
const NAMED = '318f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'
const UUID_NAME = '218f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e'

let server: Awaited<ReturnType<typeof startFakeServer>>
beforeAll(async () => {
  server = await startFakeServer({
    'GET /tenants': (_request, response) =>
      sendJson(response, 200, { data: [{ id: TENANT, name: 'Acme' }], meta: page }),
    'GET /environments': ({ url }, response) => {
      const isSearched = new URL(url ?? '', 'http://fake').searchParams.get('search') === UUID_NAME
      const data = isSearched ? [environment(NAMED, UUID_NAME, null)] : environments
      sendJson(response, 200, { data, meta: page })
    },
    [`GET /environments/${ID}`]: (_request, response) => sendJson(response, 200, environments[0]),
    [`GET /environments/${OTHER}`]: (_request, response) => sendJson(response, 200, environments[1]),
    [`PATCH /environments/${ID}`]: (_request, response) => sendJson(response, 200, environments[0]),
    [`DELETE /environments/${ID}`]: (_request, response) => response.writeHead(204, { 'x-request-id': 'r' }).end(),
  })
})
afterAll(() => server.close())
beforeEach(() => {
  server.requests.length = 0
})
const slipway = (...args: string[]) => runSlipway(server.url, ['environments', ...args])

test('a position is a number or none', async () => {
  await slipway('edit', 'blue', '--position', '30')
  await slipway('edit', 'blue', '--no-position')
  const bodies = server.requests.filter(({ route }) => route.startsWith('PATCH')).map(({ body }) => body)
  expect(bodies).toMatchObject([{ position: 30 }, { position: null }])
})

describe('a list', () => {
  test('shows names where the API has ids', async () => {
    const { stdout } = await slipway('list')
    expect(stdout).toMatch(/sqidblue +blue +- +Acme +2/)
    expect(stdout).not.toContain(TENANT)
  })

  test('is limited to a tenant', async () => {
    expect((await slipway('list', '--tenant', 'Acme', '-o', 'name')).stdout).toBe('blue\n')
  })

  test.each([
    ['json', (text: string) => JSON.parse(text)],
    ['yaml', (text: string) => parse(text)],
    [
      'jsonl',
      (text: string) =>
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
    ],
  ])('contains the records of the API in the format %s', async (format, read) => {
    expect(read((await slipway('list', '-o', format)).stdout)).toEqual(environments)
  })

  test('has one name on each line in the format name', async () => {
    expect((await slipway('list', '-o', 'name')).stdout).toBe('blue\ngreen\n')
  })
})

describe('--select', () => {
  test('prints fields separated by tabs', async () => {
    expect((await slipway('list', '--select', 'name,variables.port,tenant_id')).stdout).toBe(
      `blue\t80\t${TENANT}\ngreen\t80\t\n`,
    )
  })

  test('keeps the fields under their paths', async () => {
    const { stdout } = await slipway('list', '-o', 'jsonl', '--select', 'id,variables.color')
    expect(stdout.split('\n')[0]).toBe(`{"id":"${ID}","variables.color":"red"}`)
  })

  test('refuses a field that no record has', async () => {
    const { code, stdout, stderr } = await slipway('list', '--select', 'id,nmae')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('--select: no record has the field nmae; there are: id, sqid, name')
  })

  test('warns of a field inside of another that no record has', async () => {
    const { code, stderr } = await slipway('list', '--select', 'name,variables.prot')
    expect([code, stderr]).toEqual([0, 'warning: --select: no record has the field variables.prot\n'])
  })
})

describe('one record', () => {
  test('is shown with all fields', async () => {
    const { stdout } = await slipway('show', 'blue')
    expect(stdout).toMatch(/^environment: +blue\nid: +018f/)
    expect(stdout).toMatch(/tenant: +Acme/)
    expect(stdout).toContain('variables:\n  color: red\n  port: 80\n')
  })

  test('is found by the beginning of its id', async () => {
    expect((await slipway('show', ID.slice(0, 20), '-o', 'name')).stdout).toBe('blue\n')
    expect((await slipway('show', OTHER.slice(0, 20).toUpperCase(), '-o', 'name')).stdout).toBe('green\n')
    expect((await slipway('show', ID, '-o', 'name')).stdout).toBe('blue\n')
  })

  test('is not chosen if several ids match', async () => {
    const { code, stderr } = await slipway('show', '018f6b1e')
    expect(code).toBe(3)
    expect(stderr).toContain(`begins with "018f6b1e"\n  ${ID} blue\n  ${OTHER} green`)
  })
})

describe('a deletion', () => {
  test('needs --yes without a terminal', async () => {
    const { code, stderr } = await slipway('delete', 'blue')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--yes')])
    expect(server.count(`DELETE /environments/${ID}`)).toBe(0)
  })

  test('succeeds with --yes', async () => {
    expect((await slipway('delete', 'blue', '--yes')).stdout).toBe('deleted environment blue\n')
    expect(server.count(`DELETE /environments/${ID}`)).toBe(1)
  })
})

test('a record whose name is a UUID is named by it, unless another record has this id', async () => {
  expect((await slipway('show', UUID_NAME, '--select', 'id')).stdout).toBe(`${NAMED}\n`)
  expect((await slipway('show', ID, '--select', 'name')).stdout).toBe('blue\n')
  const { code, stderr } = await slipway('show', '418f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3e')
  expect([code, stderr]).toEqual([3, expect.stringContaining('there is no environment "418f6b1e')])
})

test('a record is named by another spelling of its name', async () => {
  expect((await slipway('show', 'BLUE', '--select', 'id')).stdout).toBe(`${ID}\n`)
})
