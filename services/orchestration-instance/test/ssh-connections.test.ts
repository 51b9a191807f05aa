import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Kill } from '@slipway/commands'
import { fingerprint, readPrivateKey } from '@slipway/domain/ssh'
import { startTcpProxy } from '@slipway/testing'
import { SshConnections } from '../src/transports/ssh/connections.ts'
import { probe } from '../src/transports/ssh/probe.ts'
import type { SshAddress } from '../src/transports/ssh/ssh-errors.ts'
import { PasswordServer } from './support/password-server.ts'
import { SshHost, start } from './support/ssh-host.ts'
import { eventually } from './support/wait.ts'

let host: SshHost

beforeAll(async () => {
  host = await SshHost.start()
})

afterAll(() => host.stop())

describe('algorithms', () => {
  test('a host without a common key exchange gives an error with the setting, and the setting can add one', async () => {
    const old = await SshHost.start(['KexAlgorithms diffie-hellman-group14-sha256'])
    await expect(start(old.transport().made, 'true').end).rejects.toThrow(
      `${old.endpoint} offers no key exchange of SLIPWAY_SSH_KEY_EXCHANGES`,
    )
    const over = new SshConnections({ handshakes: 1, keyExchanges: ['diffie-hellman-group14-sha256'] })
    expect(await start(old.transport({ over }).made, 'true').end).toMatchObject({ exitCode: 0 })
    over.close()
    await old.stop()
  })

  test.each([
    ['Ciphers aes128-cbc', 'cipher'],
    ['MACs hmac-sha1', 'MAC'],
  ])('the setting %s of a host is refused as unsafe', async (setting, kind) => {
    // With an authenticated cipher the MAC is not negotiated, so this host offers another cipher.
    const old = await SshHost.start([setting, ...(kind === 'MAC' ? ['Ciphers aes128-ctr'] : [])])
    await expect(start(old.transport().made, 'true').end).rejects.toThrow(
      `${old.endpoint} offers no ${kind} that is considered safe`,
    )
    await old.stop()
  })
})

describe('a probe', () => {
  const ask = async (address: Partial<SshAddress> = {}) => {
    const { type: _ssh, host: name, port, host_key, ...login } = host.address(address)
    const known = host_key === undefined ? {} : { host_key }
    const [result] = await probe(host.connections, [{ id: randomUUID(), host: name, port, ...known, login }])
    return result
  }

  test('reports the host key of a host that accepts the login, or the reason of the failure', async () => {
    const reached = await ask()
    expect(reached).toMatchObject({ problem: null, host_key: expect.stringMatching(/^ssh-ed25519 AAAA/) })
    expect(await ask({ host_key: reached?.host_key as string })).toMatchObject({ problem: null })
    expect(await ask({ port: 1 })).toMatchObject({ problem: 'connection refused by 127.0.0.1:1', host_key: null })
    expect((await ask({ private_key: host.sshd.strangersKey }))?.problem).toMatch(/^authentication failed for/)
    expect((await ask({ host_key: `SHA256:${'A'.repeat(43)}` }))?.problem).toMatch(/^host key of .* changed/)
  })

  test('without a login ends after the key exchange, with the host key', async () => {
    const asking = (host_key?: string) => {
      const { host: name, port } = host.address()
      return probe(host.connections, [{ id: randomUUID(), host: name, port, ...(host_key && { host_key }) }])
    }
    const [reached] = await asking()
    expect(reached).toMatchObject({ problem: null, host_key: expect.stringMatching(/^ssh-ed25519 AAAA/) })
    expect((await asking(reached?.host_key as string))[0]).toMatchObject({ problem: null })
    expect((await asking(`SHA256:${'A'.repeat(43)}`))[0]?.problem).toMatch(/^host key of .* changed/)
  })

  test('uses the connection of a running command and opens no other one', async () => {
    const proxy = await startTcpProxy(`tcp://${host.endpoint}`)
    const port = Number(new URL(proxy.url).port)
    const command = start(host.transport({ port }).made, 'echo up; sleep 600')
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

describe('a connection fails with the reason', () => {
  const refused = (address: Partial<SshAddress>) => expect(start(host.transport(address).made, 'true').end).rejects

  test('if no process listens on the port', () => refused({ port: 1 }).toThrow('connection refused by 127.0.0.1:1'))

  test('if the host name is unknown', () =>
    refused({ host: 'no-such-host.invalid' }).toThrow('the host name no-such-host.invalid cannot be resolved'))

  test('if the host refuses the private key', () =>
    refused({ private_key: host.sshd.strangersKey }).toThrow(
      `authentication failed for ${host.sshd.username}@${host.endpoint}`,
    ))

  test('if the private key is not valid, without repeating it', async () => {
    const end = start(host.transport({ private_key: 'c2VjcmV0' }).made, 'true').end
    await expect(end).rejects.toThrow('the private key does not begin with')
    await expect(end).rejects.not.toThrow('c2VjcmV0')
  })
})

test('a host accepts keys in PKCS#8', async () => {
  const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { privateKey: ec } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
  const { privateKey: ed25519 } = generateKeyPairSync('ed25519')
  for (const key of [rsa, ec, ed25519]) {
    const private_key = String(key.export({ format: 'pem', type: 'pkcs8' }))
    host.sshd.authorize(readPrivateKey(private_key).publicKey)
    const { made } = host.transport({ private_key })
    expect(await start(made, 'true').end).toMatchObject({ exitCode: 0 })
    made.close()
  }
})

describe('host keys', () => {
  test('the first one is reported in the format of OpenSSH, and a changed one is refused', async () => {
    const { made, hostKeys } = host.transport()
    await start(made, 'true').end
    expect(hostKeys).toEqual([expect.stringMatching(/^ssh-ed25519 AAAA\S+$/)])
    const known = fingerprint(Buffer.from(hostKeys[0]?.split(' ')[1] ?? '', 'base64'))
    for (const host_key of [`${hostKeys[0]} root@host`, `[127.0.0.1]:${host.sshd.port} ${hostKeys[0]}`, known]) {
      const again = host.transport({ host_key })
      expect(await start(again.made, 'true').end).toMatchObject({ exitCode: 0 })
      expect(again.hostKeys).toEqual([])
    }

    made.close()
    await host.sshd.changeHostKey()
    const changed = /host key of 127\.0\.0\.1:\d+ changed: expected (SHA256:\S+), got (SHA256:\S+)$/
    const message = await start(made, 'true').end.then(
      () => '',
      (error: Error) => error.message,
    )
    expect(message).toMatch(changed)
    const [, expected, got] = changed.exec(message) ?? []
    expect(expected).toBe(known)
    expect(got).not.toBe(known)
    await expect(start(host.transport({ host_key: known }).made, 'true').end).rejects.toThrow(changed)
  })

  test('an expected key of another type than the host has is refused', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const { e, n } = publicKey.export({ format: 'jwk' })
    const part = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 255]), bytes])
    const number = (text = '') => part(Buffer.concat([Buffer.from([0]), Buffer.from(text, 'base64url')]))
    const key = Buffer.concat([part(Buffer.from('ssh-rsa')), number(e), number(n)])
    const { made } = host.transport({ host_key: `ssh-rsa ${key.toString('base64')}` })
    await expect(start(made, 'true').end).rejects.toThrow(/changed: it has no key of the type of SHA256:/)
  })
})

describe('private keys', () => {
  test.each([
    ['rsa', '2048'],
    ['ecdsa', '256'],
    ['ed25519', '256'],
  ])('of the type %s are accepted', async (kind, bits) => {
    const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'slipway-key-')), 'key')
    execFileSync('ssh-keygen', ['-q', '-t', kind, '-b', bits, '-N', '', '-f', file])
    const other = await SshHost.start(['Match all', `AuthorizedKeysFile ${file}.pub`])
    const { made } = other.transport({ private_key: readFileSync(file, 'utf8') })
    expect(await start(made, 'exit 5').end).toMatchObject({ exitCode: 5 })
    await other.stop()
    rmSync(path.dirname(file), { recursive: true })
  })
})

describe('passwords', () => {
  const server = new PasswordServer('operator', 'correct horse')
  beforeAll(() => server.listen())
  afterAll(() => server.close())

  test.each(['password', 'keyboard-interactive'] as const)(
    'are accepted by the method %s, and wrong ones are refused',
    async (method) => {
      server.method = method
      const good = host.transport({ port: server.port, username: 'operator', password: 'correct horse' })
      const command = start(good.made, 'echo "hello"; exit 4')
      expect(await command.end).toMatchObject({ exitCode: 4 })
      expect(command.output.stdout).toBe('hello\n')
      const bad = host.transport({ port: server.port, username: 'operator', password: 'wrong horse' })
      await expect(start(bad.made, 'true').end).rejects.toThrow(
        `authentication failed for operator@127.0.0.1:${server.port}`,
      )
    },
  )
})
