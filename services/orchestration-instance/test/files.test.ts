import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { RunTarget } from '@slipway/contracts'
import { type Sshd, startSshd } from '@slipway/testing'
import { FakeBridge } from './support/fake-bridge.ts'
import { specOf } from './support/specs.ts'
import { TestInstance } from './support/test-instance.ts'
import { eventually } from './support/wait.ts'

const CACHE_MIB = 4

const bridge = new FakeBridge()
const instance = new TestInstance(bridge)
const outside = mkdtempSync(path.join(os.tmpdir(), 'slipway-files-'))
let sshd: Sshd

beforeAll(async () => {
  sshd = await startSshd()
  await bridge.listen()
  await instance.start({ SLIPWAY_CONTENT_CACHE_MIB: String(CACHE_MIB) })
})
afterAll(async () => {
  await instance.remove()
  await bridge.close()
  await sshd.stop()
  rmSync(outside, { recursive: true, force: true })
  expect(bridge.problems).toEqual([])
})
beforeEach(() => {
  bridge.contentCalls.length = 0
})

const cached = () => readdirSync(path.join(instance.folder, 'content')).sort()
const cacheFile = (id: string) => path.join(instance.folder, 'content', id)

type Kind = 'local' | 'ssh'
function targetOf(kind: Kind, name = kind as string): Partial<RunTarget> & { name: string } {
  if (kind === 'local') return { name, connection: { type: 'local' } }
  const { port, username, privateKey: private_key } = sshd
  return { name, connection: { type: 'ssh', host: '127.0.0.1', port, username, private_key } }
}

const file = (content: string, at = 'x', mode = '0644') => ({ content, path: at, mode })

/** Runs a script with files and returns how that ended and what it wrote. */
async function run(
  target: ReturnType<typeof targetOf> | ReturnType<typeof targetOf>[],
  action: Partial<Parameters<typeof specOf>[0]['actions'][number]>,
  options: Parameters<typeof specOf>[0]['options'] = {},
) {
  const spec = specOf({ targets: [target].flat(), actions: [{ script: 'cat x', ...action }], options })
  await bridge.startRun(spec)
  const { outcome, error_message } = await bridge.finished(spec)
  return { outcome, error_message, output: bridge.output(spec), spec }
}

describe.each<Kind>(['local', 'ssh'])('on a %s target', (kind) => {
  test('files are in the working directory with their bytes and permissions before the command starts', async () => {
    const large = bridge.addContent(randomBytes(700_000))
    const small = bridge.addContent(Buffer.from('#!/bin/sh\necho "it runs"\n'))
    const empty = bridge.addContent(Buffer.alloc(0))
    // The permissions do not depend on the umask of the instance.
    const umask = process.umask(0o077)
    const { outcome, output } = await run(targetOf(kind), {
      script: `sha256sum <bin/large; stat -c %a bin/large "it's/-run" empty . bin "it's"; umask; wc -c <empty; "./it's/-run"; ls -A . bin`,
      files: [file(large, 'bin/large', '0640'), file(small, `it's/-run`, '755'), file(empty, 'empty', '0600')],
    }).finally(() => process.umask(umask))
    expect(output).toEqual([
      `${large}  -`,
      ...['640', '755', '600'],
      ...['755', '755', '755'],
      '0022',
      '0',
      'it runs',
      '.:',
      'bin',
      'empty',
      `it's`,
      '',
      'bin:',
      'large',
    ])
    expect(outcome).toBe('success')
  })

  test('commands get the same LANG, unless the action sets it', async () => {
    const script = 'echo "$LANG"'
    expect((await run(targetOf(kind), { script })).output).toEqual(['C.UTF-8'])
    expect((await run(targetOf(kind), { script, env: { LANG: 'de_DE' } })).output).toEqual(['de_DE'])
  })

  test('files replace existing ones in an absolute working directory, and a relative one gets files too', async () => {
    const [old, fresh] = ['old', 'new'].map((text) => bridge.addContent(Buffer.from(`${text} ${kind}\n`)))
    const place = path.join(outside, `${kind}.txt`)
    chmodSync(outside, 0o750)
    for (const content of [old, fresh]) {
      const files = [file(content as string, `${kind}.txt`)]
      expect((await run(targetOf(kind), { script: 'true', working_directory: outside, files })).outcome).toBe('success')
    }
    expect(readFileSync(place, 'utf8')).toBe(`new ${kind}\n`)
    expect(readdirSync(outside).filter((name) => name.startsWith('.'))).toEqual([])
    // Only folders that Slipway creates get its permissions.
    expect(statSync(outside).mode & 0o777).toBe(0o750)
    const within = await run(targetOf(kind), {
      script: 'pwd; stat -c %a . ..; cat x',
      working_directory: 'a/b',
      files: [file(fresh as string)],
    })
    expect(within.output).toEqual([expect.stringMatching(/\/a\/b$/), '755', '755', `new ${kind}`])
  })

  test('a rollback script gets the files too', async () => {
    const content = bridge.addContent(Buffer.from(`undo ${kind}\n`))
    const { outcome, output } = await run(
      targetOf(kind),
      { script: 'cat x; false', rollback_script: 'cat x', files: [file(content)] },
      { rollback_strategy: 'all_executed' },
    )
    expect({ outcome, output }).toEqual({ outcome: 'rolled_back', output: [`undo ${kind}`, `undo ${kind}`] })
  })

  test('a file that cannot be fetched or placed fails the attempt with the reason, and the command does not start', async () => {
    const unknown = 'f'.repeat(64)
    const marker = path.join(outside, `started-${kind}`)
    const script = `touch ${marker}`
    expect((await run(targetOf(kind), { script, files: [file(unknown, 'bin/app')] })).error_message).toMatch(
      /^Action "action-0" failed on target "\w+": the file bin\/app could not be fetched: refused by the test: NOT_FOUND$/,
    )
    const content = bridge.addContent(Buffer.from('x'))
    writeFileSync(path.join(outside, 'no-folder'), '')
    const files = [file(content, 'no-folder/x')]
    expect((await run(targetOf(kind), { script, working_directory: outside, files })).error_message).toMatch(
      /: the file no-folder\/x could not be put into the working directory/,
    )
    expect(existsSync(marker)).toBe(false)
  })

  test('a cancel during the transfer ends the attempt, and the command does not start', async () => {
    const content = bridge.addContent(randomBytes(3_000_000))
    let arrived = () => {}
    const asked = new Promise<void>((resolve) => {
      arrived = resolve
    })
    let send = () => {}
    bridge.beforeContent = () => {
      arrived()
      return new Promise<void>((resolve) => {
        send = resolve
      })
    }
    const marker = path.join(outside, `cancelled-${kind}`)
    const spec = specOf({
      targets: [targetOf(kind)],
      actions: [{ script: `touch ${marker}`, files: [file(content)] }],
    })
    await bridge.startRun(spec)
    await asked
    bridge.stop(spec)
    await eventually('the run is gone', () => bridge.syncs.at(-1)?.runs.length === 0)
    bridge.beforeContent = () => {}
    send()
    expect(existsSync(marker)).toBe(false)
  })
})

describe('the cache', () => {
  test('fetches content once for simultaneous commands, and not again for later ones', async () => {
    const content = bridge.addContent(Buffer.from('once\n'))
    const targets = ['a', 'b', 'c', 'd'].map((name) => targetOf('local', name))
    const first = await run(targets, { files: [file(content)] }, { target_mode: 'parallel' })
    expect(first.output).toEqual(['once', 'once', 'once', 'once'])
    expect(bridge.contentCalls).toEqual([content])
    await run(targetOf('ssh'), { files: [file(content)] })
    expect(bridge.contentCalls).toEqual([content])
  })

  test('is skipped by bypass_cache, with one fetch for the whole run', async () => {
    const content = bridge.addContent(Buffer.from('fresh\n'))
    await run(targetOf('local'), { files: [file(content)] })
    const targets = ['a', 'b', 'c'].map((name) => targetOf('local', name))
    const fresh = await run(targets, { files: [file(content)] }, { bypass_cache: true, target_mode: 'parallel' })
    expect(fresh.output).toEqual(['fresh', 'fresh', 'fresh'])
    expect(bridge.contentCalls).toEqual([content, content])
    await run(targetOf('local'), { files: [file(content)] }, { bypass_cache: true })
    expect(bridge.contentCalls).toEqual([content, content, content])
  })

  test.each<Kind>(['local', 'ssh'])('fetches damaged content again, for a %s target', async (kind) => {
    const content = bridge.addContent(Buffer.from(`right ${kind}\n`))
    await run(targetOf(kind), { files: [file(content)] })
    writeFileSync(cacheFile(content), `wrong ${kind}\n`)
    expect((await run(targetOf(kind), { files: [file(content)] })).output).toEqual([`right ${kind}`])
    expect(bridge.contentCalls).toEqual([content, content])
    rmSync(cacheFile(content))
    expect((await run(targetOf(kind), { files: [file(content)] })).output).toEqual([`right ${kind}`])
    expect(bridge.contentCalls).toHaveLength(3)
  })

  test('does not change when commands change their files', async () => {
    const content = bridge.addContent(Buffer.from('kept\n'))
    await run(targetOf('local'), { script: 'echo changed >x', files: [file(content)] })
    expect((await run(targetOf('local'), { files: [file(content)] })).output).toEqual(['kept'])
    expect(bridge.contentCalls).toEqual([content])
  })

  test('refuses content with a wrong hash', async () => {
    const content = bridge.addContent(randomBytes(100))
    bridge.contents.set(content, randomBytes(100))
    const { error_message } = await run(targetOf('local'), { files: [file(content)] }, {})
    expect(error_message).toContain(
      'the file x could not be fetched: the received content does not have the expected SHA-256',
    )
    expect(cached()).not.toContain(content)
  })

  test('repeats a fetch whose answer breaks off', async () => {
    const content = bridge.addContent(Buffer.from('whole\n'))
    bridge.breaksOff = 2
    expect((await run(targetOf('local'), { files: [file(content)] })).output).toEqual(['whole'])
    expect(bridge.contentCalls).toEqual([content, content, content])
  })

  test('deletes the least recently used content when it is full, and keeps the rest over a restart', async () => {
    const [a, b, c] = [1, 2, 3].map(() => bridge.addContent(randomBytes(1.5 * 1024 * 1024))) as [string, string, string]
    const use = (content: string) => run(targetOf('local'), { script: 'true', files: [file(content)] })
    for (const content of [a, b, a, c]) await use(content)
    expect(bridge.contentCalls).toEqual([a, b, c])
    await eventually('room is made', () => cached().length <= 2 && true)
    expect(cached()).toEqual([a, c].sort())
    await instance.stop()
    writeFileSync(path.join(instance.folder, 'content', 'x.draft'), 'half')
    await instance.start({ SLIPWAY_CONTENT_CACHE_MIB: String(CACHE_MIB) })
    expect(cached()).toEqual([a, c].sort())
    await use(a)
    await use(c)
    expect(bridge.contentCalls).toEqual([a, b, c])
  })
})
