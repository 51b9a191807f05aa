import { afterAll, beforeAll, expect, test } from '@jest/globals'
import request from 'supertest'
import { startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const get = (path: string) => request(gateway.app).get(path)
const page = () => get('/').set('accept', 'text/html')
const nonceOf = (policy: string | undefined) => /'nonce-([^']+)'/.exec(policy ?? '')?.[1] ?? ''

test('the page allows only its own scripts and styles, with a new nonce for each answer', async () => {
  const [first, second] = [await page(), await page()]
  const policy = first.headers['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(first.text).toContain(`content="${nonceOf(policy)}"`)
  expect(nonceOf(second.headers['content-security-policy'])).not.toBe(nonceOf(policy))
  expect(first.headers['cache-control']).toBe('no-store')
})

test('paths of the console return its page to a browser and 404 to an API client', async () => {
  const deep = await get('/deployments/some-id').set('accept', 'text/html')
  expect(deep.status).toBe(200)
  expect(deep.text).toContain('<div id="root">')
  expect((await get('/deployments/some-id').set('accept', 'application/json')).status).toBe(404)
  expect((await get('/api/v1/nothing').set('accept', 'text/html')).body).toMatchObject({ error: { code: 'NOT_FOUND' } })
  expect((await request(gateway.app).post('/')).status).toBe(404)
})

test('a file with a hash in its name is compressed and cached for ever', async () => {
  // Small files, such as the first one of the page, are not compressed.
  const [file = ''] = /\/assets\/console-[^"]+\.js/.exec((await page()).text) ?? []
  const answer = await get(file).set('accept-encoding', 'br')
  expect(answer.status).toBe(200)
  expect(answer.headers['content-encoding']).toBe('br')
  expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect((await get('/assets/none.js')).status).toBe(404)
  expect((await get('/assets/..%2findex.html')).status).toBe(404)
})
