// What `slipway complete` offers. tests/release/completion.test.ts types into real shells.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sendJson, startFakeServer } from '@slipway/testing'
import { listCompletions } from '../src/commands/completion.ts'
import { readWords } from '../src/commands/completion-words.ts'
import { buildProgram } from '../src/commands/program.ts'
import { createIo, type RunOptions, runSlipway } from './slipway.ts'

describe('what the commands themselves say', () => {
  test.each([
    [['de'], ['deploy', 'deployments']],
    [
      ['pending', ''],
      ['cancel', 'list', 'reprioritize', 'show', 'why'],
    ],
    [['deploy', 'x', '--failure-strategy', 'c'], ['continue_on_failure']],
    [['deploy', 'x', '--dr'], ['--dry-run']],
    [
      ['status', '-o', ''],
      ['json', 'jsonl', 'name', 'table', 'yaml'],
    ],
    [['completion', 'z'], ['zsh']],
    [['deployments', '--si'], ['--since']],
    [['pending', '--wai'], ['--waiting-for']],
    [
      ['help', 'contexts', ''],
      ['create', 'delete', 'edit', 'leave', 'list', 'show', 'use'],
    ],
    [
      ['where', 'x', '--state', 'r'],
      ['rolled_back', 'rollback_failed', 'rolling_back', 'running'],
    ],
    [['deploy', '--tag', ''], []],
    [['--output=', 'deploy', ''], []],
    [['status', '--output=y'], ['--output=yaml']],
  ])('%j offers %j', async (words, expected) => {
    expect(await listCompletions(buildProgram(createIo().io), words)).toEqual(expected.toSorted())
  })
})

describe('the words of a shell', () => {
  test.each([
    [['deploy', 'Rel'], undefined, ['deploy', 'Rel'], ''],
    [['deploy', '"Release fr'], undefined, ['deploy', 'Release fr'], ''],
    [['deploy', "'Release fr"], undefined, ['deploy', 'Release fr'], ''],
    [['deploy', 'Release\\ f'], undefined, ['deploy', 'Release f'], ''],
    [['--context', '"my shop"', 's'], undefined, ['--context', 'my shop', 's'], ''],
    [['--tag', 'role=f'], 'f', ['--tag', 'role=f'], 'role='],
    [['--tag', 'role='], '=', ['--tag', 'role='], 'role='],
    [['show', 'ada@ex'], '@ex', ['show', 'ada@ex'], 'ada'],
    [['show', 'ada@ex'], 'ex', ['show', 'ada@ex'], 'ada'],
  ])('%j with the part %j are %j, of which it keeps %j', (raw, part, words, kept) => {
    expect(readWords(raw, part)).toEqual({ words, kept })
  })
})

describe('names', () => {
  const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-completion-'))
  let server: Awaited<ReturnType<typeof startFakeServer>>
  beforeAll(async () => {
    const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
    const list = (...data: object[]) => ({ data, meta })
    server = await startFakeServer({
      'GET /targets': (_, response) =>
        sendJson(
          response,
          200,
          list(
            { id: 1, name: 'web-1', tags: [{ key: 'role', value: 'frontend' }] },
            { id: 2, name: 'Web "two" & more', tags: [] },
            { id: 3, name: 'two\nlines', tags: [] },
          ),
        ),
      'GET /deployments': (_, response) => sendJson(response, 200, list({ id: ID })),
      'GET /admin/users': (_, response) => sendJson(response, 200, list({ id: 1, email: 'admin@example.com' })),
      'GET /content': (_, response) => sendJson(response, 200, list({ id: 'ab'.repeat(32) })),
    })
    const configuration = path.join(folder, 'slipway')
    fs.mkdirSync(configuration)
    const contexts = { staging: { url: server.url }, 'my shop': { url: server.url } }
    fs.writeFileSync(path.join(configuration, 'config.json'), JSON.stringify({ contexts }), { mode: 0o600 })
    fs.writeFileSync(path.join(configuration, 'last.json'), JSON.stringify({ [server.url]: ID }))
  })
  afterAll(async () => {
    await server.close()
    fs.rmSync(folder, { recursive: true })
  })

  async function complete(words: readonly string[], url = server.url, options: RunOptions = {}) {
    const ended = await runSlipway(url, ['complete', '--', ...words], { env: { XDG_CONFIG_HOME: folder }, ...options })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    return ended.stdout.split('\n').slice(0, -1)
  }

  test.each([
    [['targets', 'show', 'web'], ['web-1']],
    [
      ['on', ''],
      ['Web "two" & more', 'web-1'],
    ],
    [['deploy', 'x', '--tag', 'role=f'], ['role=frontend']],
    [
      ['logs', ''],
      [ID, '@last'],
    ],
    [['users', 'show', 'admin@'], ['admin@example.com']],
    [['content', 'download', 'ab'], ['ab'.repeat(32)]],
    [
      ['context', 'use', ''],
      ['my shop', 'staging'],
    ],
    [['--context', 'my s'], ['my shop']],
    [['audit', '--action', ''], []],
  ])('%j offers %j', async (words, expected) => {
    expect(await complete(words)).toEqual(expected)
  })

  test('are those of the server of --context', async () => {
    expect(await complete(['--context', 'staging', 'targets', 'show', 'web'], 'http://127.0.0.1:9')).toEqual(['web-1'])
  })

  test('are left out silently if no server answers, or without a credential', async () => {
    expect(await complete(['targets', 'show', 'web'], 'http://127.0.0.1:9')).toEqual([])
    expect(await complete(['targets', 'sh'], 'http://127.0.0.1:9')).toEqual(['show'])
    expect(await complete(['targets', 'show', 'web'], server.url, { env: { SLIPWAY_TOKEN: '' } })).toEqual([])
  })
})
