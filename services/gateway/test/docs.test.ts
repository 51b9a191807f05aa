import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import request from 'supertest'
import { manualRoutes } from '../src/docs/manual.ts'
import { refusal, refused, startGateway, type TestGateway } from './setup.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const get = (path: string) => request(gateway.app).get(path)

describe('the reference of the API', () => {
  test('is public and loads all its files from the gateway', async () => {
    const page = await get('/docs/reference')
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string)
    expect(links.length).toBeGreaterThanOrEqual(4)
    for (const link of links) {
      expect(link).toMatch(/^\//)
      const { status, headers } = await get(link)
      expect({ link, status }).toEqual({ link, status: 200 })
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['x-request-id']).toBeDefined()
    }
    expect((await get('/docs/start.js')).text).toContain("'/api/v1/openapi.json'")
  })

  test('allows files of the gateway and no inline scripts or styles', async () => {
    const policy = (await get('/docs/reference')).headers['content-security-policy'] ?? ''
    const directives = Object.fromEntries(
      policy.split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
    )
    expect(directives).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'connect-src': "'self'",
      'frame-ancestors': "'none'",
    })
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  test('serves its files with the right media types', async () => {
    expect((await get('/docs/swagger-ui.css')).headers['content-type']).toMatch(/^text\/css/)
    expect((await get('/docs/swagger-ui-bundle.js')).headers['content-type']).toMatch(/javascript/)
    expect((await get('/docs/start.js')).headers['content-type']).toMatch(/javascript/)
  })

  test('serves no other file and allows no other method', async () => {
    for (const path of [
      '/docs/package.json',
      '/docs/..%2fpackage.json',
      '/docs/x',
      '/docs//swagger-ui.css',
      '/docsx',
    ]) {
      expect({ path, ...refusal(await get(path)) }).toEqual({ path, ...refused(404, 'NOT_FOUND') })
    }
    const response = await request(gateway.app).post('/docs')
    expect(refusal(response)).toEqual(refused(405, 'METHOD_NOT_ALLOWED'))
    expect(response.headers['allow']).toBe('GET, HEAD')
    const head = await request(gateway.app).head('/docs')
    expect([head.status, head.text]).toEqual([200, undefined])
  })
})

test('a build serves each of its files, and its index at the address of the documentation', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'slipway-manual-'))
  try {
    const paths = () => manualRoutes(folder).map((route) => route.path)
    expect(paths()).toEqual(['/docs', '/docs/'])
    mkdirSync(path.join(folder, 'images'))
    for (const file of ['README.html', 'cli.html', 'manual.css', 'images/now.png'])
      writeFileSync(path.join(folder, file), '')
    expect(paths().sort()).toEqual(['/docs', '/docs/', '/docs/cli', '/docs/images/now.png', '/docs/manual.css'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the address of the documentation is public, with and without a build', async () => {
  for (const path of ['/docs', '/docs/']) {
    const { status, headers } = await get(path)
    expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)])
    expect(headers['content-security-policy']).toContain("script-src 'self'")
  }
})
