// Completion in a real bash and zsh on a terminal, and in a real fish: how the scripts pass words and quote offers.
// packages/cli/test/completion.test.ts has what is offered.
import { execFile, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { completeLines, sendJson, startFakeServer, waitFor, waitForValue } from '@slipway/testing'
import { binFolder } from './programs.ts'

const DEPLOYMENT = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d'
const NOWHERE = 'http://127.0.0.1:9'
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-completion-'))
let server: Awaited<ReturnType<typeof startFakeServer>>

beforeAll(async () => {
  const meta = { total: 1, page: 1, limit: 100, total_pages: 1, has_next: false, has_prev: false }
  const list = (...data: object[]) => ({ data: data.map((one, n) => ({ id: String(n), ...one })), meta })
  server = await startFakeServer({
    'GET /actions': (_, response) => sendJson(response, 200, list({ name: 'Release front end' })),
    'GET /sequences': (_, response) => sendJson(response, 200, list()),
    'GET /solutions': (_, response) => sendJson(response, 200, list()),
    'GET /environments': (_, response) => sendJson(response, 200, list({ name: 'production' })),
    'GET /targets': (_, response) =>
      sendJson(
        response,
        200,
        list({ name: 'web-1', tags: [{ key: 'role', value: 'frontend' }] }, { name: 'Web "two" & more', tags: [] }),
      ),
    'GET /deployments': (_, response) => sendJson(response, 200, list({ id: DEPLOYMENT })),
    'GET /admin/users': (_, response) => sendJson(response, 200, list({ email: 'admin@example.com' })),
  })
  const configuration = path.join(folder, 'slipway')
  fs.mkdirSync(configuration)
  const contexts = { staging: { url: server.url }, 'my shop': { url: server.url } }
  fs.writeFileSync(path.join(configuration, 'config.json'), JSON.stringify({ contexts }), { mode: 0o600 })
  fs.writeFileSync(path.join(configuration, 'last.json'), JSON.stringify({ [server.url]: DEPLOYMENT }))
})
afterAll(async () => {
  await server.close()
  fs.rmSync(folder, { recursive: true })
})

const getEnv = (home: string, url: string) => ({
  PATH: `${binFolder(folder)}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
  HOME: home,
  ZDOTDIR: home,
  XDG_CONFIG_HOME: folder,
  XDG_DATA_HOME: home,
  XDG_CACHE_HOME: home,
  TERM: 'dumb',
  LC_ALL: 'C.UTF-8',
  SLIPWAY_URL: url,
  SLIPWAY_TOKEN: 'token',
})

type ShellName = 'bash' | 'zsh' | 'zsh by fpath'

/** The start-up file of each shell, and the command of a shell that reads only this file. */
const STARTS: Record<ShellName, { file: string; setup: string; command: string }> = {
  bash: { file: 'rc', setup: 'eval "$(slipway completion bash)"', command: 'bash --noprofile --rcfile rc -i' },
  zsh: { file: '.zshrc', setup: 'eval "$(slipway completion zsh)"', command: 'zsh -d -i' },
  'zsh by fpath': {
    file: '.zshrc',
    setup:
      'mkdir functions; slipway completion zsh >functions/_slipway; fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u',
    command: 'zsh -d -i',
  },
}

interface Shell {
  /** Types the text, Tab and Enter. Returns the arguments of the call of slipway. */
  type(text: string): Promise<string[]>
  end(): Promise<void>
}

/** Starts a shell on a terminal of its own. */
async function openShell(name: ShellName, url = server.url): Promise<Shell> {
  const home = fs.mkdtempSync(path.join(folder, 'home-'))
  const called = path.join(home, 'called')
  const { file, setup, command } = STARTS[name]
  fs.writeFileSync(
    path.join(home, file),
    `${setup}
slipway() { if [ "$1" = complete ]; then command slipway "$@"; else printf '%s\\n' "$@" >${called}.new; mv ${called}.new ${called}; fi; }
PS1=ready PS2=unfinished
`,
  )
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: home,
    env: getEnv(home, url),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await waitFor(() => output.includes('ready'), { what: 'the prompt of the shell' })
  return {
    async type(text) {
      fs.rmSync(called, { force: true })
      output = ''
      child.stdin.write(`${text}\t\r`)
      // The shell asks for more after an open quote, if nothing was completed in it.
      await waitFor(() => fs.existsSync(called) || output.includes('unfinished'), { what: text })
      return completeLines(called)
    },
    async end() {
      // The shell ends with its terminal. "exit" would be text in an open quote.
      child.kill('SIGKILL')
      await ended
    },
  }
}

const CASES: [what: string, typed: string, expected: string[]][] = [
  ['a command', 'slipway targets sh', ['targets', 'show']],
  ['an option', 'slipway deploy x --environ', ['deploy', 'x', '--environment']],
  ['a source with spaces', 'slipway deploy Rel', ['deploy', 'Release front end']],
  ['a source in quotes', 'slipway deploy "Release fr', ['deploy', 'Release front end']],
  ['a source after a backslash', 'slipway deploy Release\\ f', ['deploy', 'Release front end']],
  ['a name with quotes', 'slipway on Web', ['on', 'Web "two" & more']],
  ['the value after "="', 'slipway deploy x --environment=prod', ['deploy', 'x', '--environment=production']],
  ['a tag', 'slipway deploy x --tag role=f', ['deploy', 'x', '--tag', 'role=frontend']],
  ['the last deployment', 'slipway logs @l', ['logs', '@last']],
  ['a user', 'slipway users show admin@', ['users', 'show', 'admin@example.com']],
  ['the context of a command', 'slipway --context "my s', ['--context', 'my shop']],
  [
    'a target of a context',
    'slipway --context staging targets show web',
    ['--context', 'staging', 'targets', 'show', 'web-1'],
  ],
]

/** A completion waits 2 s for the server. A busy machine may need longer, so the test types again. */
const expectSoon = async <T>(complete: () => Promise<T>, expected: T) =>
  expect(await waitForValue('the completion', complete, (seen) => isDeepStrictEqual(seen, expected))).toEqual(expected)

describe.each(['bash', 'zsh'] as const)('%s completes', (name) => {
  let shell: Shell
  beforeAll(async () => {
    shell = await openShell(name)
  })
  afterAll(() => shell.end())

  test.each(CASES)('%s', async (_, typed, expected) => {
    await expectSoon(() => shell.type(typed), expected)
  })

  test('a file where no name fits', async () => {
    expect(await shell.type('slipway apply -f /etc/hostn')).toEqual(['apply', '-f', '/etc/hostname'])
  })

  test('commands alone, silently, when no server answers', async () => {
    const alone = await openShell(name, NOWHERE)
    try {
      expect(await alone.type('slipway targets show web')).toEqual(['targets', 'show', 'web'])
      expect(await alone.type('slipway targets sh')).toEqual(['targets', 'show'])
      expect(await alone.type('slipway deploy "Release fr')).toEqual([])
    } finally {
      await alone.end()
    }
  })
})

test('zsh completes at the first Tab with the script in a folder of fpath', async () => {
  const shell = await openShell('zsh by fpath')
  try {
    await expectSoon(() => shell.type('slipway targets show web'), ['targets', 'show', 'web-1'])
  } finally {
    await shell.end()
  }
})

describe('fish completes', () => {
  /** The completions that fish offers for the last word of each text. */
  async function complete(texts: readonly string[], url = server.url): Promise<string[][]> {
    const home = fs.mkdtempSync(path.join(folder, 'home-'))
    const program = 'slipway completion fish | source; for text in $argv; complete -C $text; echo ---; end'
    const { stdout } = await promisify(execFile)('fish', ['-N', '-c', program, ...texts], { env: getEnv(home, url) })
    return stdout
      .split('---\n')
      .slice(0, -1)
      .map((offers) => offers.split('\n').slice(0, -1).sort())
  }

  test('what the other shells complete, every name after a space, and a file where no name fits', async () => {
    const cases: [string, string[]][] = [
      ...CASES.map(([, typed, expected]): [string, string[]] => [typed, expected.slice(-1)]),
      ['slipway targets show ', ['Web "two" & more', 'web-1']],
      ['slipway logs ', [DEPLOYMENT, '@last']],
      ['slipway apply -f /etc/hostn', ['/etc/hostname']],
    ]
    const typed = cases.map(([text]) => text)
    await expectSoon(
      () => complete(typed),
      cases.map(([, expected]) => expected),
    )
  })

  test('commands alone, silently, when no server answers', async () => {
    expect(await complete(['slipway targets show web', 'slipway targets sh'], NOWHERE)).toEqual([[], ['show']])
  })
})
