// Completion in a real bash and zsh on a terminal, and in a real fish.
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  completeLines,
  createAction,
  createLocalTarget,
  loginToSuite,
  type Suite,
  startSuite,
  waitFor,
  waitForValue,
} from '@slipway/testing'
import { binFolder, commandLineOf } from './slipway.ts'

let suite: Suite
let api: Api
let deployment: string
let content: string
/** The folder of the configuration, with contexts and the last deployment. */
let configured: string

beforeAll(async () => {
  suite = await startSuite()
  api = await loginToSuite(suite)
  const action = await createAction(api, { script: 'echo hello' }, 'Release front end')
  const target = await createLocalTarget(api, { name: 'web-1', tags: [{ key: 'role', value: 'frontend' }] })
  await createLocalTarget(api, { name: 'Web "two" & more' })
  await api.post('/environments', { name: 'production' })
  const { body } = await api.post('/deployments', { action_id: action, target_ids: [target] })
  deployment = body.deployment_id
  configured = path.join(suite.folder, 'configured')
  const folder = path.join(configured, 'slipway')
  fs.mkdirSync(folder, { recursive: true })
  const contexts = { staging: { url: suite.url }, 'my shop': { url: suite.url } }
  fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ contexts }), { mode: 0o600 })
  fs.writeFileSync(path.join(folder, 'last.json'), JSON.stringify({ [suite.url]: deployment }), { mode: 0o600 })
  const file = path.join(suite.folder, 'site.tar')
  fs.writeFileSync(file, 'site')
  const uploaded = await commandLineOf(suite, api.token).run(['content', 'upload', file, '--select', 'id'])
  content = uploaded.stdout.trim()
})
afterAll(() => suite?.stop())

const getEnv = (folder: string, url: string) => ({
  PATH: `${binFolder(suite.folder)}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
  ...{ HOME: folder, ZDOTDIR: folder, XDG_CONFIG_HOME: configured, XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder },
  ...{ TERM: 'dumb', LC_ALL: 'C.UTF-8', SLIPWAY_URL: url, SLIPWAY_TOKEN: api.token },
})

type Typing = 'bash' | 'zsh' | 'zsh by fpath'

/** The start-up file of each shell, and the command of a shell that reads only this file. */
const STARTS: Record<Typing, { file: string; setup: string; command: string }> = {
  bash: { file: 'rc', setup: 'eval "$(slipway completion bash)"', command: 'bash --noprofile --rcfile rc -i' },
  zsh: { file: '.zshrc', setup: 'eval "$(slipway completion zsh)"', command: 'zsh -d -i' },
  'zsh by fpath': {
    file: '.zshrc',
    setup:
      'mkdir functions; slipway completion zsh >functions/_slipway; fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u',
    command: 'zsh -d -i',
  },
}

/**
 * Types the text, Tab and Enter into a shell on a terminal. Returns the arguments of the call of slipway; none if the
 * shell waits for more, because nothing was completed in an open quote.
 */
async function type(shell: Typing, text: string, url = suite.url): Promise<string[]> {
  const folder = fs.mkdtempSync(path.join(suite.folder, 'typed-'))
  const called = path.join(folder, 'called')
  const { file, setup, command } = STARTS[shell]
  fs.writeFileSync(
    path.join(folder, file),
    `${setup}
slipway() { if [ "$1" = complete ]; then command slipway "$@"; else printf '%s\\n' "$@" >${called}.new; mv ${called}.new ${called}; fi; }
PS1=ready PS2=unfinished
`,
  )
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder,
    env: getEnv(folder, url),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  try {
    await waitFor(() => output.includes('ready'))
    child.stdin.write(`${text}\t\r`)
    await waitFor(() => fs.existsSync(called) || output.includes('unfinished'))
    return completeLines(called)
  } finally {
    // The shell ends with its terminal. "exit" would be text in an open quote, and may be lost after ^C.
    child.kill('SIGKILL')
    await ended
  }
}

const CASES: [what: string, typed: string, expected: string[]][] = [
  ['a command', 'slipway targets sh', ['targets', 'show']],
  ['an option', 'slipway deploy x --environ', ['deploy', 'x', '--environment']],
  ['a target', 'slipway targets show web', ['targets', 'show', 'web-1']],
  ['a source with spaces', 'slipway deploy Rel', ['deploy', 'Release front end']],
  ['a source in quotes', 'slipway deploy "Release fr', ['deploy', 'Release front end']],
  ['a source after a backslash', 'slipway deploy Release\\ f', ['deploy', 'Release front end']],
  ['a name with quotes', 'slipway on Web', ['on', 'Web "two" & more']],
  ['the value of an option', 'slipway deploy x --environment prod', ['deploy', 'x', '--environment', 'production']],
  ['the value after "="', 'slipway deploy x --environment=prod', ['deploy', 'x', '--environment=production']],
  ['a choice', 'slipway deployments --state succ', ['deployments', '--state', 'success']],
  ['a tag', 'slipway deploy x --tag role=f', ['deploy', 'x', '--tag', 'role=frontend']],
  ['the last deployment', 'slipway logs @l', ['logs', '@last']],
  ['a user', 'slipway users show admin@', ['users', 'show', 'admin@example.com']],
  ['a context', 'slipway context use stag', ['context', 'use', 'staging']],
  ['the context of a command', 'slipway --context "my s', ['--context', 'my shop']],
  [
    'a target of a context',
    'slipway --context staging targets show web',
    ['--context', 'staging', 'targets', 'show', 'web-1'],
  ],
]

/** A completion waits 2 s for the server. A busy machine may need longer, so a new shell tries again. */
const expectSoon = async (complete: () => Promise<string[]> | string[], expected: string[]) =>
  expect(await waitForValue('the completion', complete, (seen) => isDeepStrictEqual(seen, expected))).toEqual(expected)

describe.each(['bash', 'zsh'] as const)('%s completes', (shell) => {
  test.each(CASES)('%s', async (_, typed, expected) => {
    await expectSoon(() => type(shell, typed), expected)
  })

  test('the ids of a deployment and of content', async () => {
    await expectSoon(() => type(shell, `slipway logs ${deployment.slice(0, 6)}`), ['logs', deployment])
    await expectSoon(
      () => type(shell, `slipway content download ${content.slice(0, 6)}`),
      ['content', 'download', content],
    )
  })

  test('a file where no name fits', async () => {
    expect(await type(shell, 'slipway apply -f /etc/hostn')).toEqual(['apply', '-f', '/etc/hostname'])
  })

  test('commands alone, silently, when no server answers', async () => {
    expect(await type(shell, 'slipway targets show web', 'http://127.0.0.1:9')).toEqual(['targets', 'show', 'web'])
    expect(await type(shell, 'slipway targets sh', 'http://127.0.0.1:9')).toEqual(['targets', 'show'])
    expect(await type(shell, 'slipway deploy "Release fr', 'http://127.0.0.1:9')).toEqual([])
  })
})

test('zsh completes at the first Tab with the script in a folder of fpath', async () => {
  await expectSoon(() => type('zsh by fpath', 'slipway targets show web'), ['targets', 'show', 'web-1'])
})

describe('fish completes', () => {
  /** The completions that fish offers for the last word of the text. */
  function complete(text: string, url = suite.url): string[] {
    const folder = fs.mkdtempSync(path.join(suite.folder, 'fish-'))
    const program = 'slipway completion fish | source; complete -C $argv[1]'
    const options = { env: getEnv(folder, url), encoding: 'utf8' } as const
    return execFileSync('fish', ['-N', '-c', program, text], options).trimEnd().split('\n').filter(Boolean)
  }

  test.each(CASES)('%s', async (_, typed, expected) => {
    await expectSoon(() => complete(typed), expected.slice(-1))
  })

  test('every name after a space, and no files', async () => {
    await expectSoon(() => complete('slipway targets show ').sort(), ['Web "two" & more', 'web-1'])
    await expectSoon(() => complete('slipway context use ').sort(), ['my shop', 'staging'])
    await expectSoon(() => complete('slipway logs ').sort(), [deployment, '@last'].sort())
    await expectSoon(() => complete('slipway content download '), [content])
  })

  test('a file where no name fits', () => {
    expect(complete('slipway apply -f /etc/hostn')).toEqual(['/etc/hostname'])
  })

  test('commands alone, silently, when no server answers', () => {
    expect(complete('slipway targets show web', 'http://127.0.0.1:9')).toEqual([])
    expect(complete('slipway targets sh', 'http://127.0.0.1:9')).toEqual(['show'])
  })
})
