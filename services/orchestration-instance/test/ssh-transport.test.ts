import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Command, Kill, Lifeline } from '@slipway/execution'
import { type Sshd, startSshd, startTcpProxy } from '@slipway/testing'
import { SshConnections } from '../src/transports/ssh/connections.ts'
import { fingerprint } from '../src/transports/ssh/host-key.ts'
import { probe } from '../src/transports/ssh/probe.ts'
import type { SshAddress } from '../src/transports/ssh/ssh-errors.ts'
import { SshTransport } from '../src/transports/ssh/ssh-transport.ts'
import { commandOf, startOn } from './support/commands.ts'
import { PasswordServer } from './support/password-server.ts'
import { processesWith, serverOf } from './support/processes.ts'
import { eventually } from './support/wait.ts'

let sshd: Sshd
const connections = new SshConnections({ handshakes: 2, keyExchanges: ['curve25519-sha256'] })

beforeAll(async () => {
  sshd = await startSshd()
})

afterAll(async () => {
  connections.close()
  await sshd.stop()
})

function transport(address: Partial<SshAddress> = {}, over = connections, lifeline?: Lifeline) {
  const hostKeys: string[] = []
  const made = new SshTransport({
    address: {
      type: 'ssh',
      host: '127.0.0.1',
      port: sshd.port,
      username: sshd.username,
      ...(address.password === undefined && { private_key: sshd.privateKey }),
      ...address,
    },
    connections: over,
    ...(lifeline && { lifeline }),
    onHostKey: (key) => hostKeys.push(key),
    onSeen: () => {},
  })
  return { made, hostKeys }
}

const start = (on: SshTransport, script: string, options: Partial<Command> = {}) => startOn(on, { script, ...options })

describe('commands', () => {
  test('exit codes, signals, both streams and the environment arrive as they are', async () => {
    const { made } = transport()
    const value = `it's "$(id)"\n\\ {{ x }}`
    const first = start(made, 'printf "%s" "$VALUE"; echo err >&2; echo more >/dev/stderr; exit 9', {
      environment: { VALUE: value },
    })
    expect(await first.end).toEqual({ exitCode: 9, signal: null, confirmed: true })
    expect(first.output).toEqual({ stdout: value, stderr: 'err\nmore\n' })
    expect(await start(made, 'kill -KILL $$').end).toEqual({ exitCode: null, signal: 'SIGKILL', confirmed: true })
  })

  test('the next command uses the same connection', async () => {
    const { made } = transport()
    const server = async () => {
      const command = start(made, 'echo $PPID; sleep 0.2')
      await eventually('it runs', () => command.output.stdout !== '')
      const found = serverOf(Number(command.output.stdout))
      await command.end
      return found
    }
    expect(await server()).toBe(await server())
  })

  test('two at the same time have a connection each', async () => {
    const { made } = transport()
    const commands = [1, 2].map(() => start(made, 'echo $PPID; sleep 0.5'))
    await Promise.all(commands.map(({ end }) => end))
    const [one, other] = commands.map(({ output }) => output.stdout)
    expect(one).not.toBe(other)
  })

  test('a connection made ahead is the one that the command takes, and what went wrong is told to who waits for it', async () => {
    const proxy = await startTcpProxy(`tcp://127.0.0.1:${sshd.port}`)
    const port = Number(new URL(proxy.url).port)
    let greetings = 0
    proxy.onSent((bytes) => {
      if (bytes.includes('SSH-2.0')) greetings += 1
    })
    const { made, hostKeys } = transport({ port })
    made.prepare(new AbortController().signal)
    await eventually('the host is known', () => hostKeys.length === 1)
    expect(await start(made, 'exit 3').end).toMatchObject({ exitCode: 3 })
    expect(greetings).toBe(1)

    const early = transport({ port })
    early.made.prepare(new AbortController().signal)
    early.made.close()
    const probed = transport({ port })
    probed.made.prepare(new AbortController().signal)
    expect(await start(probed.made, 'exit 5').end).toMatchObject({ exitCode: 5 })
    expect(early.hostKeys).toEqual([])

    await proxy.close()
    const late = transport({ port: 1 })
    late.made.prepare(new AbortController().signal)
    await expect(start(late.made, 'true').end).rejects.toThrow('connection refused by 127.0.0.1:1')
    const hung = transport({ port: sshd.port, private_key: sshd.strangersKey })
    hung.made.prepare(new AbortController().signal)
    await new Promise((resolve) => setTimeout(resolve, 500))
    await expect(start(hung.made, 'true').end).rejects.toThrow('authentication failed')
  })

  test('each has a fresh directory, which is gone afterwards', async () => {
    const { made } = transport()
    const command = start(made, 'ls -A; pwd; touch left')
    await command.end
    const folder = command.output.stdout.trim()
    expect(folder).toMatch(/^\/.*\/slipway\.[^/]+\/work$/)
    for (const left of ['a-file', '.hidden', '..odd', 'a/folder']) {
      const next = start(
        made,
        `ls -A; mkdir -p "$(dirname ${left})"; touch ${left}; chmod 0 ${left}; ln -s /no/such link`,
      )
      expect(await next.end).toMatchObject({ exitCode: 0 })
      expect(next.output.stdout).toBe('')
    }
    const inside = start(made, 'pwd', { workingDirectory: 'a/b' })
    await inside.end
    expect(inside.output.stdout.trim()).toMatch(/\/work\/a\/b$/)
    made.close()
    await eventually('the directory is removed', () => !existsSync(path.dirname(folder)))
  })

  test('other interpreters, and a clear word where something is missing', async () => {
    const { made } = transport()
    const python = start(made, 'import os; print(os.environ["A"])', { interpreter: 'python3', environment: { A: 'é' } })
    await python.end
    expect(python.output.stdout).toBe('é\n')
    const endpoint = `127.0.0.1:${sshd.port}`
    await expect(start(made, '', { workingDirectory: '/no/such' }).end).rejects.toThrow(
      `the working directory /no/such does not exist on ${endpoint}`,
    )
    await expect(start(made, '', { interpreter: 'pwsh' }).end).rejects.toThrow(
      `the interpreter pwsh was not found on ${endpoint}`,
    )
  })

  test('nothing of the script or its values shows in the arguments of a process', async () => {
    const { made } = transport()
    const secret = randomUUID()
    const command = start(
      made,
      `: ${secret}; tr '\\0' ' ' </proc/[0-9]*/cmdline 2>/dev/null; cat /proc/[0-9]*/cmdline`,
      {
        environment: { SECRET: secret },
      },
    )
    await command.end
    expect(command.output.stdout).toContain('sshd')
    expect(command.output.stdout).not.toContain(secret)
  })

  test('a large output arrives whole, however slowly it is taken', async () => {
    const { made } = transport()
    let length = 0
    const command = commandOf({ script: 'head -c 3000000 /dev/zero | tr "\\0" x' })
    const io = {
      onOutput: async (_stream: string, chunk: Buffer) => {
        await new Promise((resolve) => setTimeout(resolve, 1))
        length += chunk.length
      },
    }
    await made.run(command, io, new AbortController().signal)
    expect(length).toBe(3_000_000)
  })

  test('a daemon may stay and keep the streams; what stays in the group may not', async () => {
    const { made } = transport()
    const [daemon, leftover] = [randomUUID(), randomUUID()]
    const command = start(made, `MARK=${daemon} setsid sleep 600 & MARK=${leftover} sleep 600 & echo done`)
    expect(await command.end).toMatchObject({ exitCode: 0 })
    expect(command.output.stdout).toBe('done\n')
    await eventually('the leftover is gone', () => processesWith(leftover).length === 0)
    const [survivor] = processesWith(daemon)
    expect(survivor).toBeGreaterThan(0)
    process.kill(survivor as number, 'SIGKILL')
  })
})

describe('the shell on the host', () => {
  test('leaves INT to what it runs, and takes every character', async () => {
    const { made } = transport()
    const VALUE = `ā漢\u0081\u0088 "$(id)" \\n \`x\` ' ${String.fromCharCode(1)}\t`
    for (const script of ['true', `sh -c 'kill -INT $$'; printf '%s\\n' "$? $VALUE" 'ā漢\\n'`]) {
      const command = start(made, script, { environment: { VALUE } })
      expect(await command.end).toMatchObject({ exitCode: 0 })
      expect(command.output.stdout).toBe(script === 'true' ? '' : `130 ${VALUE}\nā漢\\n\n`)
    }
  })

  test('tells exit codes from signals, and goes on after each', async () => {
    const { made } = transport()
    expect(await start(made, 'exit 137').end).toMatchObject({ exitCode: 137, signal: null })
    expect(await start(made, 'kill -SEGV $$').end).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
    expect(await start(made, '', { workingDirectory: '/no/such' }).end.catch(() => 'refused')).toBe('refused')
    expect(await start(made, 'exit 255').end).toMatchObject({ exitCode: 255, signal: null })
  })

  test('takes a long script as a second one', async () => {
    const { made } = transport()
    await start(made, 'true').end
    const command = start(made, `: ${'x'.repeat(200_000)}\necho end`)
    await command.end
    expect(command.output.stdout).toBe('end\n')
  })

  test('is missed when a command kills it, and nothing runs on', async () => {
    const { made } = transport()
    const mark = randomUUID()
    const command = start(made, `export MARK=${mark}; echo up; sleep 600 & kill -KILL $PPID; sleep 600`)
    await expect(command.end).rejects.toThrow(`connection to 127.0.0.1:${sshd.port} was lost while the command ran`)
    await eventually('nothing is left', () => processesWith(mark).length === 0)
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
  })

  test('kills by itself when nobody tells it that commands may live on, but not what comes after', async () => {
    const lifeline = new Lifeline()
    lifeline.renew(performance.now() + 60_000)
    const { made } = transport({}, connections, lifeline)
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
    const mark = randomUUID()
    const command = start(made, `export MARK=${mark}; echo up; sleep 600 & sleep 600`)
    await eventually('it runs', () => command.output.stdout === 'up\n')
    lifeline.renew(performance.now() + 2_000)
    expect(await command.end).toEqual({ exitCode: null, signal: 'SIGKILL', confirmed: true })
    await eventually('nothing is left', () => processesWith(mark).length === 0)
    lifeline.renew(performance.now() + 60_000)
    expect(await start(made, 'sleep 1.5').end).toMatchObject({ exitCode: 0 })
  })

  /** A host on which programs are found in one folder, with this one as `sh`, and without those that are left out. */
  async function hostWith(shell: string, { without }: { without: readonly string[] }) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-programs-'))
    for (const name of readdirSync('/usr/bin')) {
      if (name !== 'sh' && !without.includes(name)) symlinkSync(path.join('/usr/bin', name), path.join(folder, name))
    }
    symlinkSync(path.join('/usr/bin', shell), path.join(folder, 'sh'))
    const host = await startSshd({
      settings: [`ForceCommand exec env PATH=${folder} ${folder}/sh -c "$SSH_ORIGINAL_COMMAND"`],
    })
    const { made } = transport({ port: host.port, private_key: host.privateKey })
    const stop = async () => {
      made.close()
      await host.stop()
      rmSync(folder, { recursive: true })
    }
    return { made, stop }
  }

  test.each([
    ['dash', []],
    ['bash', []],
    ['dash', ['setsid']],
    ['bash', ['setsid']],
  ])('is %s, on a host without %j', async (shell, without) => {
    const { made, stop } = await hostWith(shell, { without })
    const [cancelled, stubborn, leftover] = [randomUUID(), randomUUID(), randomUUID()]
    const first = start(made, `MARK=${leftover} sleep 600 & echo "$0"; exit 3`)
    expect(await first.end).toMatchObject({ exitCode: 3 })
    await eventually('the leftover is gone', () => processesWith(leftover).length === 0)
    const second = start(made, `export MARK=${cancelled}; sleep 600 & echo up; sleep 600`)
    await eventually('it runs', () => second.output.stdout === 'up\n')
    second.abort.abort(new Kill('cancelled', 10_000))
    expect(await second.end).toMatchObject({ exitCode: null, confirmed: true })
    await eventually('nothing is left', () => processesWith(cancelled).length === 0)
    const third = start(made, `export MARK=${stubborn}; trap '' TERM; pwd; while :; do sleep 0.1; done`)
    await eventually('it runs', () => third.output.stdout.endsWith('/work\n'))
    third.abort.abort(new Kill('cancelled', 500))
    expect(await third.end).toMatchObject({ exitCode: null, signal: 'SIGKILL', confirmed: true })
    await eventually('nothing is left', () => processesWith(stubborn).length === 0)
    const last = start(made, 'pwd; exit 4')
    expect(await last.end).toMatchObject({ exitCode: 4 })
    made.close()
    const folders = [third, last].map(({ output }) => path.dirname(output.stdout.trim()))
    await eventually('their directories are gone', () => !folders.some((folder) => existsSync(folder)))
    await stop()
  })
})

describe('ends that nobody wished', () => {
  const family = (mark: string) => `export MARK=${mark}; sh -c 'sleep 600 & sleep 600' & echo up; sleep 600`

  test('a kill ends the whole group on the host', async () => {
    const { made } = transport()
    const mark = randomUUID()
    const command = start(made, family(mark))
    await eventually('it runs', () => command.output.stdout === 'up\n')
    command.abort.abort(new Kill('cancelled', 10_000))
    expect(await command.end).toEqual({ exitCode: null, signal: 'SIGTERM', confirmed: true })
    await eventually('nothing is left', () => processesWith(mark).length === 0)
    // The connection is still good for the next command.
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
  })

  test('what ignores TERM gets KILL', async () => {
    const { made } = transport()
    const mark = randomUUID()
    const command = start(made, `export MARK=${mark}; trap '' TERM; echo up; while :; do sleep 0.1; done`)
    await eventually('it runs', () => command.output.stdout === 'up\n')
    command.abort.abort(new Kill('cancelled', 1_000))
    expect(await command.end).toEqual({ exitCode: null, signal: 'SIGKILL', confirmed: true })
    await eventually('nothing is left', () => processesWith(mark).length === 0)
  })

  test('a cut link is told as such, and nothing runs on behind it', async () => {
    const { made } = transport()
    const mark = randomUUID()
    const command = start(made, `echo "server $PPID"; ${family(mark)}`)
    await eventually('it runs', () => command.output.stdout.endsWith('up\n'))
    process.kill(serverOf(Number(/server (\d+)/.exec(command.output.stdout)?.[1])), 'SIGKILL')
    await expect(command.end).rejects.toThrow(`connection to 127.0.0.1:${sshd.port} was lost while the command ran`)
    await eventually('nothing is left', () => processesWith(mark).length === 0)
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
  })
})

describe('a link that fails', () => {
  /** The host behind a proxy that can cut the link or swallow what goes over it. */
  async function behindProxy() {
    const proxy = await startTcpProxy(`tcp://127.0.0.1:${sshd.port}`)
    const port = Number(new URL(proxy.url).port)
    return { proxy, port, ...transport({ port }) }
  }
  const family = (mark: string) => `export MARK=${mark}; sh -c 'sleep 600 & sleep 600' & echo up; sleep 600`

  test('because it is cut is told, and nothing runs on behind it', async () => {
    const { proxy, port, made } = await behindProxy()
    const mark = randomUUID()
    const command = start(made, family(mark))
    await eventually('it runs', () => command.output.stdout === 'up\n')
    proxy.cut()
    await expect(command.end).rejects.toThrow(`connection to 127.0.0.1:${port} was lost while the command ran`)
    await eventually('nothing is left', () => processesWith(mark).length === 0)
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
    await proxy.close()
  })

  test('because nothing comes through is noticed by the keep-alive', async () => {
    const { proxy, port, made } = await behindProxy()
    const command = start(made, 'echo up; sleep 600')
    await eventually('it runs', () => command.output.stdout === 'up\n')
    proxy.freeze()
    await expect(command.end).rejects.toThrow(`connection to 127.0.0.1:${port} was lost while the command ran`)
    await proxy.close()
  }, 60_000)

  test('while nothing runs costs the next command nothing but a connection', async () => {
    const { proxy, made } = await behindProxy()
    const server = async () => {
      const command = start(made, 'echo $PPID')
      expect(await command.end).toMatchObject({ exitCode: 0 })
      return command.output.stdout
    }
    const first = await server()
    await new Promise((resolve) => setTimeout(resolve, 200))
    proxy.cut()
    expect(await server()).not.toBe(first)
    await proxy.close()
  })
})

describe('algorithms', () => {
  test('a host with none in common is told as such, and which are offered can be set', async () => {
    const old = await startSshd({ settings: ['KexAlgorithms diffie-hellman-group14-sha256'] })
    const address = { port: old.port, private_key: old.privateKey }
    await expect(start(transport(address).made, 'true').end).rejects.toThrow(
      `127.0.0.1:${old.port} offers no key exchange of SLIPWAY_SSH_KEY_EXCHANGES`,
    )
    const other = new SshConnections({ handshakes: 1, keyExchanges: ['diffie-hellman-group14-sha256'] })
    expect(await start(transport(address, other).made, 'true').end).toMatchObject({ exitCode: 0 })
    other.close()
    await old.stop()
  })

  test.each([
    ['Ciphers aes128-cbc', 'cipher'],
    ['MACs hmac-sha1', 'MAC'],
  ])('%s is too old', async (setting, kind) => {
    // Authenticated ciphers need no MAC.
    const host = await startSshd({ settings: [setting, ...(kind === 'MAC' ? ['Ciphers aes128-ctr'] : [])] })
    await expect(start(transport({ port: host.port, private_key: host.privateKey }).made, 'true').end).rejects.toThrow(
      `127.0.0.1:${host.port} offers no ${kind} that is considered safe`,
    )
    await host.stop()
  })
})

describe('a probe', () => {
  const ask = async (address: Partial<SshAddress> = {}) => {
    const { port, username, privateKey: private_key } = sshd
    const connection = { type: 'ssh' as const, host: '127.0.0.1', port, username, private_key, ...address }
    const { results } = await probe(connections, [{ id: randomUUID(), connection }])
    return results[0]
  }

  test('tells that a host lets us in, with its key, or why not', async () => {
    const reached = await ask()
    expect(reached).toMatchObject({ problem: null, host_key: expect.stringMatching(/^ssh-ed25519 AAAA/) })
    expect(await ask({ host_key: reached?.host_key as string })).toMatchObject({ problem: null })
    expect(await ask({ port: 1 })).toMatchObject({ problem: 'connection refused by 127.0.0.1:1', host_key: null })
    expect((await ask({ private_key: sshd.strangersKey }))?.problem).toMatch(/^authentication failed for/)
    expect((await ask({ host_key: `SHA256:${'A'.repeat(43)}` }))?.problem).toMatch(/^host key of .* changed/)
  })

  test('takes the connection that a command has, and makes none', async () => {
    const proxy = await startTcpProxy(`tcp://127.0.0.1:${sshd.port}`)
    const port = Number(new URL(proxy.url).port)
    const command = start(transport({ port }).made, 'echo up; sleep 600')
    await eventually('it runs', () => command.output.stdout === 'up\n')
    let sent = 0
    proxy.onSent((bytes) => {
      if (bytes.includes('SSH-2.0')) sent += 1
    })
    expect(await ask({ port })).toMatchObject({ problem: null })
    expect(sent).toBe(0)
    command.abort.abort(new Kill('stop', 0))
    await command.end
    proxy.cut()
    await eventually('it connects anew', async () => (await ask({ port }))?.problem === null && sent > 0)
    await proxy.close()
  })
})

describe('connections that do not come about', () => {
  const refused = (address: Partial<SshAddress>) => expect(start(transport(address).made, 'true').end).rejects

  test('nobody listens', () => refused({ port: 1 }).toThrow('connection refused by 127.0.0.1:1'))

  test('the name is unknown', () =>
    refused({ host: 'no-such-host.invalid' }).toThrow('the host name no-such-host.invalid cannot be resolved'))

  test('a wrong key', () =>
    refused({ private_key: sshd.strangersKey }).toThrow(
      `authentication failed for ${sshd.username}@127.0.0.1:${sshd.port}`,
    ))

  test('a key that is none, of which nothing is repeated', async () => {
    const end = start(transport({ private_key: 'c2VjcmV0' }).made, 'true').end
    await expect(end).rejects.toThrow('the private key cannot be read')
    await expect(end).rejects.not.toThrow('c2VjcmV0')
  })
})

describe('host keys', () => {
  test('the first is reported in the form of OpenSSH and has to stay', async () => {
    const { made, hostKeys } = transport()
    await start(made, 'true').end
    expect(hostKeys).toEqual([expect.stringMatching(/^ssh-ed25519 AAAA\S+$/)])
    const known = fingerprint(Buffer.from(hostKeys[0]?.split(' ')[1] ?? '', 'base64'))
    for (const host_key of [`${hostKeys[0]} root@host`, `[127.0.0.1]:${sshd.port} ${hostKeys[0]}`, known]) {
      const again = transport({ host_key })
      expect(await start(again.made, 'true').end).toMatchObject({ exitCode: 0 })
      expect(again.hostKeys).toEqual([])
    }

    made.close()
    await sshd.changeHostKey()
    const changed = /host key of 127\.0\.0\.1:\d+ changed: expected (SHA256:\S+), got (SHA256:\S+)$/
    const message = await start(made, 'true').end.then(
      () => '',
      (error: Error) => error.message,
    )
    expect(message).toMatch(changed)
    const [, expected, got] = changed.exec(message) ?? []
    expect(expected).toBe(known)
    expect(got).not.toBe(known)
    await expect(start(transport({ host_key: known }).made, 'true').end).rejects.toThrow(changed)
  })

  test('a key of another kind than the host has', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const { e, n } = publicKey.export({ format: 'jwk' })
    const part = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 255]), bytes])
    const number = (text = '') => part(Buffer.concat([Buffer.from([0]), Buffer.from(text, 'base64url')]))
    const key = Buffer.concat([part(Buffer.from('ssh-rsa')), number(e), number(n)])
    const { made } = transport({ host_key: `ssh-rsa ${key.toString('base64')}` })
    await expect(start(made, 'true').end).rejects.toThrow(/changed: it has none of the kind of SHA256:/)
  })
})

describe('private keys', () => {
  test.each(['rsa', 'ecdsa', 'ed25519'])('of the kind %s let in', async (kind) => {
    const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'slipway-key-')), 'key')
    execFileSync('ssh-keygen', ['-q', '-t', kind, '-N', '', '-f', file])
    const host = await startSshd({ settings: ['Match all', `AuthorizedKeysFile ${file}.pub`] })
    const { made } = transport({ port: host.port, private_key: readFileSync(file, 'utf8') })
    expect(await start(made, 'exit 5').end).toMatchObject({ exitCode: 5 })
    await host.stop()
    rmSync(path.dirname(file), { recursive: true })
  })
})

describe('passwords', () => {
  const server = new PasswordServer('operator', 'correct horse')
  beforeAll(() => server.listen())
  afterAll(() => server.close())

  test.each(['password', 'keyboard-interactive'] as const)('by the method %s', async (method) => {
    server.method = method
    const good = transport({ port: server.port, username: 'operator', password: 'correct horse' })
    const command = start(good.made, 'echo "hello"; exit 4')
    expect(await command.end).toMatchObject({ exitCode: 4 })
    expect(command.output.stdout).toBe('hello\n')
    const bad = transport({ port: server.port, username: 'operator', password: 'wrong horse' })
    await expect(start(bad.made, 'true').end).rejects.toThrow(
      `authentication failed for operator@127.0.0.1:${server.port}`,
    )
  })
})

describe('files', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-sent-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A file of zeros: it takes a while to be sent, and no room. */
  function zeros(bytes: number) {
    const source = path.join(folder, randomUUID())
    writeFileSync(source, '')
    truncateSync(source, bytes)
    return { source, content: '0'.repeat(64), path: 'x', mode: '0644' }
  }

  /** Where the host keeps content of this size that was, or is being, sent. */
  const sentTo = () =>
    readdirSync(os.tmpdir())
      .filter((name) => /^slipway\.[0-9a-f]{32}$/.test(name))
      .map((name) => path.join(os.tmpdir(), name))
      .filter((directory) => existsSync(path.join(directory, 'files', '0')))

  test('an abort while they are sent ends at once and leaves nothing on the host', async () => {
    const { made } = transport()
    const before = new Set(sentTo())
    const { end, abort } = start(made, 'echo started', { files: [zeros(4 * 1024 ** 3)] })
    const [directory = ''] = await eventually('they are being sent', () => {
      const fresh = sentTo().filter((each) => !before.has(each))
      return fresh.length > 0 && fresh
    })
    abort.abort(new Kill('stop', 0))
    expect(await end).toMatchObject({ exitCode: null })
    await eventually('the directory is gone', () => !existsSync(directory))
    const next = start(made, 'echo next')
    await next.end
    expect(next.output.stdout).toBe('next\n')
  })

  test('a connection that is lost meanwhile fails the try and leaves nothing on the host', async () => {
    const { made } = transport()
    const server = start(made, 'echo $PPID; sleep 0.2')
    await eventually('it runs', () => server.output.stdout !== '')
    const id = serverOf(Number(server.output.stdout))
    await server.end
    const before = new Set(sentTo())
    const { end } = start(made, 'echo started', { files: [zeros(4 * 1024 ** 3)] })
    const [directory = ''] = await eventually('they are being sent', () => {
      const fresh = sentTo().filter((each) => !before.has(each))
      return fresh.length > 0 && fresh
    })
    process.kill(id, 'SIGKILL')
    await expect(end).rejects.toThrow(/the connection was lost|was lost before the command started/)
    await eventually('the directory is gone', () => !existsSync(directory))
  })

  test('bytes that are not what their hash says are refused by the host', async () => {
    const { made } = transport()
    const { end, output } = start(made, 'echo started', { files: [zeros(100)] })
    await expect(end).rejects.toThrow(`the file x was damaged on its way to 127.0.0.1:${sshd.port}`)
    expect(output.stdout).toBe('')
  })
})
