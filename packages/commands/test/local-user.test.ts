import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { isLongRun, waitFor } from '@slipway/testing'

const PROGRAM = path.join(import.meta.dirname, 'fixtures/as-user.mjs')
/** A user that exists on every system. */
const USER = 'nobody'
const idOf = (option: string) => Number(spawnSync('id', [option, USER], { encoding: 'utf8' }).stdout)
const uid = idOf('-u')
const gid = idOf('-g')
/** The system user `daemon` stands for the user of a service. */
const SERVICE = 1

interface Rights {
  /** Words before the program that remove rights from it. */
  words: string[]
  uid: number
}

const RIGHTS: [string, Rights][] = [
  ['root', { words: [], uid: 0 }],
  [
    'root with CAP_SETUID and CAP_SETGID alone',
    { words: ['setpriv', '--bounding-set=-all,+setuid,+setgid', '--inh-caps=-all'], uid: 0 },
  ],
  [
    'another user with CAP_SETUID and CAP_SETGID',
    {
      words: [
        ...['setpriv', `--reuid=${SERVICE}`, `--regid=${SERVICE}`, '--clear-groups'],
        ...['--inh-caps=+setuid,+setgid', '--ambient-caps=+setuid,+setgid'],
      ],
      uid: SERVICE,
    },
  ],
]

interface Result {
  exitCode?: number | null
  signal?: string | null
  confirmed?: boolean
  error?: string
  refused?: string
  stdout: string
  stderr: string
}

const mayTry =
  process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0 && !Number.isNaN(uid) && uid !== 0
const describeAsRoot = mayTry ? describe : describe.skip
const testWithMounts = spawnSync('unshare', ['-m', 'true']).status === 0 ? test : test.skip

let base: string
/** The folder of the instance. */
let folder: string
let userFolder: string
const started: ChildProcess[] = []

beforeEach(() => {
  base = mkdtempSync(path.join(os.tmpdir(), 'slipway-as-user-'))
  chmodSync(base, 0o711)
  folder = path.join(base, 'commands')
  userFolder = path.join(base, 'local-commands')
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  rmSync(base, { recursive: true, force: true })
})

function own(rights: Rights): void {
  mkdirSync(folder, { mode: 0o700 })
  chownSync(base, rights.uid, rights.uid)
  chownSync(folder, rights.uid, rights.uid)
}

function begin(rights: Rights, commands: object[], more: object = {}): ChildProcess {
  const [program = '', ...args] = [...rights.words, process.execPath, PROGRAM]
  // A folder of the instance in its own PATH.
  const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: '/', SECRET_OF_THE_INSTANCE: 'planted' }
  const child = spawn(program, args, { cwd: '/', env, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify({ folder, userFolder, name: USER, commands, ...more }))
  started.push(child)
  return child
}

async function run(rights: Rights, commands: object[], more: object = {}): Promise<Result[]> {
  const child = begin(rights, commands, more)
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += chunk
  })
  await new Promise((resolve) => child.once('close', resolve))
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Result)
}

async function runOne(rights: Rights, command: object): Promise<Result> {
  const [result] = await run(rights, [command])
  if (!result) throw new Error('the program said nothing')
  return result
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

const eventually = (what: string, ask: () => boolean) => waitFor(ask, { what, everyMs: 20 })

function fileOf({ uid: owner }: Rights, text: string, parts: object = {}) {
  const source = path.join(folder, randomUUID())
  writeFileSync(source, text, { mode: 0o600 })
  chownSync(source, owner, owner)
  const content = createHash('sha256').update(text).digest('hex')
  return { source, content, path: 'a/file', mode: '0640', ...parts }
}

describeAsRoot.each(RIGHTS)('an instance that is %s', (_name, rights) => {
  beforeEach(() => own(rights))

  test('runs commands as the user, in a directory that only the user can read', async () => {
    const script = 'id -u; id -g; pwd; stat -c "%u %a" . .. "$0"; echo "$HOME"; umask; kill -USR1 $$'
    const { stdout, ...end } = await runOne(rights, { script })
    const [user, group, directory, work, above, file, home, umask] = stdout.split('\n')
    expect({ user, group, work, above, file, umask }).toEqual({
      user: String(uid),
      group: String(gid),
      work: `${uid} 755`,
      above: `${uid} 700`,
      file: `${uid} 700`,
      umask: '0022',
    })
    expect(home).toBe(
      os.userInfo().uid === 0 && spawnSync('sh', ['-c', `echo ~${USER}`], { encoding: 'utf8' }).stdout.trim(),
    )
    expect(path.dirname(path.dirname(directory ?? ''))).toBe(userFolder)
    expect(end).toEqual({ exitCode: null, signal: 'SIGUSR1', confirmed: true, stderr: '' })
    expect(readdirSync(userFolder)).toEqual([])
  })

  test('gives commands no capability and no way to become another user', async () => {
    const script = 'grep -E "^Cap(Inh|Prm|Eff|Amb)" /proc/self/status; setpriv --reuid=0 id -u'
    const { stdout, exitCode } = await runOne(rights, { script })
    expect(stdout.match(/[0-9a-f]{16}/g)).toEqual(Array(4).fill('0'.repeat(16)))
    expect(exitCode).not.toBe(0)
  })

  test('writes files as the user', async () => {
    const file = fileOf(rights, 'text')
    const damaged = { ...fileOf(rights, 'other'), content: '0'.repeat(64), path: 'damaged' }
    const [placed, refused] = await run(rights, [
      { script: 'stat -c "%u %a" a/file a .; cat a/file; echo more >>a/file', files: [file] },
      { script: 'echo started', files: [damaged] },
    ])
    expect(placed?.stdout).toBe(`${uid} 640\n${uid} 755\n${uid} 755\ntext`)
    expect(refused).toMatchObject({
      error: expect.stringContaining('the file damaged was damaged on the disk'),
      stdout: '',
    })
    expect(readdirSync(userFolder)).toEqual([])
  })

  test('kills commands with TERM first and with KILL after the grace', async () => {
    const [polite, stubborn] = await run(rights, [
      {
        script: `trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done`,
        killAfter: 'up',
        graceMs: 10_000,
      },
      { script: `trap '' TERM; (sleep 600 &); echo up; sleep 600 & echo $!; wait`, killAfter: 'up', graceMs: 300 },
    ])
    expect(polite).toMatchObject({ exitCode: 3, confirmed: true, stdout: 'up\nbye\n' })
    expect(stubborn).toMatchObject({ exitCode: null, signal: 'SIGKILL', confirmed: true })
    const child = Number(/\d+/.exec(stubborn?.stdout ?? ''))
    await eventually('nothing is left of it', () => !isAlive(child))
  })
})

/** With more rights, nothing here is harder. */
describeAsRoot.each(isLongRun ? RIGHTS : RIGHTS.slice(-1))('commands of an instance that is %s', (_name, rights) => {
  beforeEach(() => own(rights))

  test('passes any values of variables to commands, but no variable of its own', async () => {
    const value = `it's "$HOME" \`id\` \\ é\n two lines\n`
    const environment = { VALUE: value, EMPTY: '', IFS: 'x', PATH: '/bin:/usr/bin' }
    const { stdout } = await runOne(rights, { script: 'printf %s "$VALUE"; echo "[$EMPTY]"; env', environment })
    expect(stdout.startsWith(`${value}[]\n`)).toBe(true)
    expect(stdout).toContain('PATH=/bin:/usr/bin\n')
    expect(stdout).not.toMatch(/SECRET_OF_THE_INSTANCE|^settings=|OLDPWD/m)
    const tooLarge = await runOne(rights, { script: '', environment: { BIG: 'x'.repeat(200_000) } })
    expect(tooLarge.error).toContain('its variables are too large for an environment')
  })

  test('keeps the variables of a command from processes that can still change their user', async () => {
    // With LD_DEBUG, the loader of each program reports the program that it loads.
    const { stderr } = await runOne(rights, { script: 'true', environment: { LD_DEBUG: 'files' } })
    expect(stderr).toContain('/bin/sh')
    expect(stderr).not.toContain('setpriv')
  })

  test('protects its memory, environment, files and pipes from its commands', async () => {
    const secret = path.join(folder, 'secret')
    writeFileSync(secret, 'planted', { mode: 0o600 })
    const script = `
      instance=$(ps -o ppid= -p $$ | tr -d ' ')
      cat "/proc/$instance/environ" "/proc/$instance/maps"; ls "/proc/$instance/fd" "/proc/$instance/cwd/"
      cat '${secret}'; ls '${folder}' '${userFolder}' '${base}'; kill -0 "$instance" && echo killed
      echo "$instance"`
    const { stdout, stderr } = await runOne(rights, { script })
    expect(stdout.trim()).toMatch(/^\d+$/)
    expect(stderr.match(/Permission denied|Operation not permitted/g)).toHaveLength(9)
  })

  test('searches programs in the PATH of the system, so that a missing one is told from a forbidden one', async () => {
    const { exitCode, stdout } = await runOne(rights, { script: 'echo "$PATH"; no-such-program' })
    expect([exitCode, stdout]).toEqual([127, '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n'])
  })

  test('reads output that a command writes to /dev/stdout or /dev/stderr', async () => {
    const { stdout, stderr } = await runOne(rights, { script: 'echo named >/dev/stderr; echo tee | tee /dev/stdout' })
    expect([stdout, stderr]).toEqual(['tee\ntee\n', 'named\n'])
  })

  test('finds only interpreters that the user can execute', async () => {
    const bin = path.join(base, 'bin')
    mkdirSync(bin)
    chmodSync(bin, 0o755)
    writeFileSync(path.join(bin, 'bash'), '#!/bin/sh\n', { mode: 0o700 })
    chmodSync(path.join(bin, 'bash'), 0o700)
    const [found, missing] = await run(rights, [
      { script: '[[ a == a ]] && echo y', interpreter: 'bash', environment: { PATH: `${bin}:/usr/bin:/bin` } },
      { script: '', interpreter: 'pwsh' },
    ])
    expect(found?.stdout).toBe('y\n')
    expect(missing?.error).toContain('the interpreter pwsh was not found on the instance')
  })

  test('writes no file where the user may not write, even through a link', async () => {
    const guarded = path.join(base, 'guarded')
    const ofUser = path.join(base, 'of-user')
    for (const each of [guarded, ofUser]) {
      mkdirSync(each)
      chmodSync(each, 0o755)
    }
    chownSync(ofUser, uid, gid)
    symlinkSync(guarded, path.join(ofUser, 'link'))
    const results = await run(rights, [
      { script: 'echo started', workingDirectory: guarded, files: [fileOf(rights, 'text', { path: 'file' })] },
      { script: 'echo started', workingDirectory: ofUser, files: [fileOf(rights, 'text', { path: 'link/file' })] },
      { script: 'cat file', workingDirectory: ofUser, files: [fileOf(rights, 'text', { path: 'file' })] },
    ])
    expect(results).toMatchObject([
      { error: expect.stringMatching(/^FileError: the file file could not be put .*Permission denied/), stdout: '' },
      {
        error: expect.stringMatching(/^FileError: the file link\/file could not be put .*Permission denied/),
        stdout: '',
      },
      { exitCode: 0, stdout: 'text' },
    ])
    expect(readdirSync(guarded)).toEqual([])
  })

  test('runs commands in working directories that the user can enter', async () => {
    const closed = path.join(base, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const [relative, absolute, refused, missing] = await run(rights, [
      { script: 'pwd', workingDirectory: 'b/c' },
      { script: 'pwd', workingDirectory: '/usr' },
      { script: 'pwd', workingDirectory: closed },
      { script: 'pwd', workingDirectory: '/no/such' },
    ])
    expect(relative?.stdout).toMatch(/\/work\/b\/c\n$/)
    expect(absolute?.stdout).toBe('/usr\n')
    for (const each of [refused, missing])
      expect(each?.error).toMatch(/does not exist on the instance, or the user nobody/)
  })

  test('ends processes that a command leaves in its group', async () => {
    const { stdout } = await runOne(rights, { script: 'sleep 600 & echo $!' })
    await eventually('it is gone', () => !isAlive(Number(stdout)))
  })

  test('does not leave its commands running when it dies', async () => {
    const child = begin(rights, [{ script: `echo $$ >"${base}/pid"; exec sleep 600` }])
    chmodSync(base, 0o733)
    await eventually('it runs', () => existsSync(`${base}/pid`) && statSync(`${base}/pid`).size > 1)
    const pid = Number(readFileSync(`${base}/pid`, 'utf8'))
    expect(isAlive(pid)).toBe(true)
    child.kill('SIGKILL')
    await eventually('the command is gone', () => !isAlive(pid))
  })

  test('does not leave its commands running when it is frozen', async () => {
    chmodSync(base, 0o733)
    const child = begin(rights, [{ script: `echo $$ >"${base}/pid"; exec sleep 600` }], { lifelineMs: 2_000 })
    await eventually('it runs', () => existsSync(`${base}/pid`) && statSync(`${base}/pid`).size > 1)
    const pid = Number(readFileSync(`${base}/pid`, 'utf8'))
    child.kill('SIGSTOP')
    await eventually('the command is gone', () => !isAlive(pid))
    child.kill('SIGKILL')
  })

  test('removes what an earlier instance left', async () => {
    mkdirSync(userFolder)
    for (const owner of [uid, rights.uid, 54_321]) {
      const left = path.join(userFolder, `command-${owner}`)
      mkdirSync(path.join(left, 'inner'), { recursive: true })
      writeFileSync(path.join(left, 'inner/file'), 'text')
      for (const each of [left, `${left}/inner`, `${left}/inner/file`]) chownSync(each, owner, owner)
    }
    chownSync(userFolder, rights.uid, rights.uid)
    await runOne(rights, { script: 'true' })
    expect(readdirSync(userFolder)).toEqual([])
  })
})

describeAsRoot('the user of commands', () => {
  const root: Rights = { words: [], uid: 0 }
  beforeEach(() => own(root))

  testWithMounts('keeps the supplementary groups of the machine', async () => {
    const groups = path.join(base, 'group')
    writeFileSync(groups, `${readFileSync('/etc/group', 'utf8')}slipwaytest:x:61234:${USER}\n`)
    const words = ['unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/group && exec "$@"', groups]
    const { stdout } = await runOne({ words, uid: 0 }, { script: 'id -G' })
    expect(stdout.trim().split(' ').map(Number)).toEqual([gid, 61_234])
  })

  test.each([
    ['does not exist', 'no-such-user', root, 'names the user "no-such-user", which does not exist on this machine'],
    ['has no such number', '54321', root, 'names the user "54321", which does not exist on this machine'],
    ['is root', 'root', root, 'which has all permissions'],
    [
      'is the one of the instance',
      String(SERVICE),
      { words: ['setpriv', `--reuid=${SERVICE}`, '--clear-groups'], uid: SERVICE },
      'the user of the instance',
    ],
    [
      'is out of reach for the instance',
      USER,
      { words: ['setpriv', `--reuid=${SERVICE}`, '--clear-groups'], uid: SERVICE },
      'the instance may not change its user: run it as root or with CAP_SETUID and CAP_SETGID',
    ],
  ] satisfies [string, string, Rights, string][])('is refused if the user %s', async (_why, name, rights, message) => {
    const [result] = await run(rights, [], { name })
    expect(result?.refused).toContain(message)
  })

  test('can be given by number', async () => {
    const [result] = await run(root, [{ script: 'id -u' }], { name: String(uid) })
    expect(result?.stdout).toBe(`${uid}\n`)
  })
})
