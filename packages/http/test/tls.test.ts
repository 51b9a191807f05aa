import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import os from 'node:os'
import path from 'node:path'
import { mock } from 'node:test'
import tls from 'node:tls'
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { BridgeConnections, ConfigurationError, type Logger, sleep } from '@slipway/runtime'
import { makeCertificates, type TestCertificates, type TestCertificatesOptions, waitFor } from '@slipway/testing'
import { type ListeningServer, listen } from '../src/index.ts'
import { readKeyPair, watchKeyPair } from '../src/key-pair.ts'

/** How often servers and clients look at their files here. */
const CHECK_MS = 50

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

interface Line {
  level: string
  message: string
  fields: Record<string, unknown>
}

function recorder(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      lines.push({ level, message, fields })
    }
  const logger: Logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => logger,
  }
  return { logger, lines }
}

/** Created once, because openssl is slow. Each test changes copies. */
const usual: TestCertificates[] = []
afterAll(() => {
  for (const made of usual) made.remove()
})

let given = 0
beforeEach(() => {
  given = 0
})

/** Returns another CA and certificate with each call in a test. */
function certificates(options?: TestCertificatesOptions): TestCertificates {
  if (options) {
    const made = makeCertificates(options)
    cleanups.push(() => made.remove())
    return made
  }
  usual[given] ??= makeCertificates()
  const { folder } = usual[given] as TestCertificates
  given += 1
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-tls-'))
  fs.cpSync(folder, copy, { recursive: true })
  const remove = () => fs.rmSync(copy, { recursive: true })
  cleanups.push(remove)
  const at = (file: string) => path.join(copy, file)
  return { folder: copy, caFile: at('trust/ca.crt'), certFile: at('tls/tls.crt'), keyFile: at('tls/tls.key'), remove }
}

const filesOf = ({ certFile, keyFile }: { certFile: string; keyFile: string }) => ({
  certificate: { variable: 'CERT_FILE', file: certFile },
  key: { variable: 'KEY_FILE', file: keyFile },
})

async function serve(files: { certFile: string; keyFile: string }, app: http.RequestListener = answerOk) {
  const { logger, lines } = recorder()
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    variable: 'none',
    tls: { files: filesOf(files), logger, checkMs: CHECK_MS },
  })
  cleanups.push(() => {
    server.server.closeAllConnections()
    return server.close()
  })
  return { server, lines, url: `https://127.0.0.1:${server.port}` }
}

const answerOk: http.RequestListener = (_request, response) => response.end('{}')

function connect(caFile?: string) {
  const { logger, lines } = recorder()
  const connections = new BridgeConnections({ caFile, urlSetting: 'SLIPWAY_BRIDGE_URL', logger, checkMs: CHECK_MS })
  const call = async (url: string) => {
    const { status, body } = await connections.post({ url, token: 'secret', body: '{}', timeoutMs: 60_000 })
    await body
    return status
  }
  return { connections, lines, call }
}

/** Replaces a certificate and its key, as a renewal does. */
function replace(old: TestCertificates, by: TestCertificates): void {
  fs.copyFileSync(by.certFile, old.certFile)
  fs.copyFileSync(by.keyFile, old.keyFile)
}

/** The serial number of the certificate on a new connection. */
async function serialOf({ port }: ListeningServer): Promise<string> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.end()
  await once(socket, 'close')
  return serialNumber
}

describe('a server with a certificate', () => {
  test('serves HTTPS and refuses versions before TLS 1.2', async () => {
    const pair = certificates()
    const { server, url, lines } = await serve(pair)
    expect(await connect(pair.caFile).call(url)).toBe(200)
    const old = tls.connect({
      port: server.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    const [error] = await once(old, 'error')
    expect(error).toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
    expect(lines).toEqual([expect.objectContaining({ level: 'warn', message: 'a TLS handshake failed' })])
  })

  test('logs a hint for a client that sends plain HTTP', async () => {
    const { server, lines } = await serve(certificates())
    const outgoing = http.get({ port: server.port, host: '127.0.0.1' })
    await once(outgoing, 'error')
    expect(lines.map(({ message }) => message)).toEqual(['a client sent plain HTTP: its URL must begin with https://'])
  })

  const wrongPairs: [string, (pair: TestCertificates) => { certFile: string; keyFile: string }, string][] = [
    [
      'a certificate that is not there',
      (pair) => ({ ...pair, certFile: path.join(pair.folder, 'none.crt') }),
      'CERT_FILE names .*none.crt, which cannot be read \\(ENOENT\\)',
    ],
    [
      'a key that is not there',
      (pair) => ({ ...pair, keyFile: path.join(pair.folder, 'none.key') }),
      'KEY_FILE names .*none.key, which cannot be read \\(ENOENT\\)',
    ],
    [
      'a folder',
      (pair) => ({ ...pair, certFile: pair.folder }),
      'CERT_FILE names .*, which cannot be read \\(EISDIR\\)',
    ],
    [
      'a key in the place of the certificate',
      (pair) => ({ ...pair, certFile: pair.keyFile }),
      'CERT_FILE names .*, which does not hold certificates in PEM',
    ],
    [
      'a certificate in the place of the key',
      (pair) => ({ ...pair, keyFile: pair.certFile }),
      'KEY_FILE names .*, which does not hold a private key in PEM without a passphrase',
    ],
    [
      'the key of another certificate',
      (pair) => ({ ...pair, keyFile: certificates().keyFile }),
      'KEY_FILE names .*, which is not the private key of the certificate that CERT_FILE names',
    ],
    [
      'a chain that breaks off',
      (pair) => {
        const text = fs.readFileSync(pair.certFile, 'utf8')
        fs.appendFileSync(pair.certFile, text.slice(0, 200))
        return pair
      },
      'CERT_FILE names .*, which does not hold certificates in PEM',
    ],
  ]
  test.each(wrongPairs)('does not start with %s', async (_what, files, message) => {
    const starting = serve(files(certificates()))
    await expect(starting).rejects.toThrow(ConfigurationError)
    await expect(starting).rejects.toThrow(new RegExp(message))
  })

  test('starts with an expired certificate and logs an error', async () => {
    const pair = certificates({ days: -1 })
    const { lines } = await serve(pair)
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        message: `the certificate has expired and clients refuse it: renew ${pair.certFile}, named by CERT_FILE`,
      }),
    ])
  })
})

describe('a renewed certificate', () => {
  test('is used under load without a failed call', async () => {
    const pair = certificates()
    const { server, url, lines } = await serve(pair)
    const before = await serialOf(server)
    const other = certificates()
    // The clients trust both CAs.
    fs.appendFileSync(pair.caFile, fs.readFileSync(other.caFile, 'utf8'))
    const { call } = connect(pair.caFile)
    let calls = 0
    let isOver = false
    const failures: unknown[] = []
    const load = Array.from({ length: 8 }, async (_, worker) => {
      while (!isOver) {
        try {
          // Half of the clients keep their connections. The others open one for each call.
          if (worker % 2 === 0) await call(url)
          else await freshCall(url, pair.caFile)
          calls += 1
        } catch (error) {
          failures.push(error)
        }
        await sleep(2)
      }
    })
    await waitFor(() => calls > 8, { what: 'calls' })
    replace(pair, other)
    await waitFor(async () => (await serialOf(server)) !== before, { what: 'the new certificate' })
    const atChange = calls
    await waitFor(() => calls > atChange + 8, { what: 'calls over the new certificate' })
    isOver = true
    await Promise.all(load)
    expect(failures).toEqual([])
    expect(lines).toEqual([
      { level: 'info', message: 'new connections get the new certificate', fields: expect.anything() },
    ])
  })

  test('is used when Kubernetes exchanges the mounted folder', async () => {
    const [first, second] = [certificates(), certificates()]
    const mount = fs.mkdtempSync(path.join(first.folder, 'mount-'))
    const link = (to: string) => {
      fs.symlinkSync(path.join(to, 'tls'), path.join(mount, '..data_tmp'))
      fs.renameSync(path.join(mount, '..data_tmp'), path.join(mount, '..data'))
    }
    link(first.folder)
    for (const name of ['tls.crt', 'tls.key']) fs.symlinkSync(`..data/${name}`, path.join(mount, name))
    const { server } = await serve({ certFile: path.join(mount, 'tls.crt'), keyFile: path.join(mount, 'tls.key') })
    const before = await serialOf(server)
    link(second.folder)
    await waitFor(async () => (await serialOf(server)) !== before, { what: 'the new certificate' })
  })

  test('is not used while it is incomplete, and one that stays broken is reported once', async () => {
    const pair = certificates()
    const { server, lines } = await serve(pair)
    const before = await serialOf(server)
    const other = certificates()
    fs.writeFileSync(pair.keyFile, fs.readFileSync(other.keyFile))
    // The new key does not match the old certificate.
    await waitFor(() => lines.length > 0, { what: 'the report' })
    await sleep(5 * CHECK_MS)
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'the new certificate or key cannot be used: the old pair stays in use',
        fields: { error: expect.any(ConfigurationError) },
      },
    ])
    expect(String(lines[0]?.fields['error'])).toContain('KEY_FILE names')
    expect(await serialOf(server)).toBe(before)
    fs.copyFileSync(other.certFile, pair.certFile)
    await waitFor(async () => (await serialOf(server)) !== before, { what: 'the new certificate' })
    expect(lines.map(({ level }) => level)).toEqual(['error', 'info'])
  })

  test('is not used after one reading, because the file may be half written', () => {
    const pair = certificates()
    const files = filesOf(pair)
    const other = certificates()
    const whole = fs.readFileSync(other.certFile, 'utf8')
    const { logger, lines } = recorder()
    mock.timers.enable({ apis: ['setInterval'] })
    cleanups.push(() => mock.timers.reset())
    const used: string[] = []
    const onChange = ({ certificate }: { certificate: string }) => used.push(certificate)
    const stop = watchKeyPair(files, { current: readKeyPair(files), onChange, logger, checkMs: 1_000 })
    fs.copyFileSync(other.keyFile, pair.keyFile)
    fs.writeFileSync(pair.certFile, whole.slice(0, 100))
    mock.timers.tick(1_000)
    fs.writeFileSync(pair.certFile, whole)
    mock.timers.tick(1_000)
    expect(used).toEqual([])
    mock.timers.tick(1_000)
    stop()
    expect(used).toEqual([whole])
    expect(lines.map(({ level }) => level)).toEqual(['info'])
  })

  test('leaves the previous certificate in use if its file disappears', async () => {
    const pair = certificates()
    const { url, lines } = await serve(pair)
    fs.rmSync(pair.certFile)
    await waitFor(() => lines.length > 0, { what: 'the report' })
    expect(String(lines[0]?.fields['error'])).toContain('which cannot be read (ENOENT)')
    expect(await connect(pair.caFile).call(url)).toBe(200)
  })
})

function freshCall(url: string, caFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = https.get(url, { agent: false, ca: fs.readFileSync(caFile, 'utf8') }, (response) => {
      response.resume().once('end', resolve).once('error', reject)
    })
    outgoing.once('error', reject)
  })
}

describe('a client', () => {
  /** Expects that calls and downloads fail and that no request reaches the server. */
  async function expectRefused(pair: TestCertificates, caFile: string | undefined, host: string, message: RegExp) {
    let requests = 0
    const { server } = await serve(pair, (_request, response) => {
      requests += 1
      response.end('{}')
    })
    const { call, connections } = connect(caFile)
    const url = `https://${host}:${server.port}`
    await expect(call(url)).rejects.toThrow(message)
    await expect(connections.download({ url, token: 'secret', idleMs: 5_000 })).rejects.toThrow(message)
    expect(requests).toBe(0)
  }

  test('refuses an unknown CA and names the setting', async () => {
    const pair = certificates()
    const message =
      /^127\.0\.0\.1:\d+ shows a certificate of a CA that is not trusted: put the CA's certificate into the file that SLIPWAY_BRIDGE_CA_FILE names \(\w+\)$/
    await expectRefused(pair, certificates().caFile, '127.0.0.1', message)
    // The CAs of the system do not include this CA either.
    await expectRefused(pair, undefined, '127.0.0.1', message)
  })

  test('refuses a certificate for another name and reports its names', async () => {
    const pair = certificates({ names: ['bridge.example.com', '192.0.2.1'] })
    const message =
      /shows a certificate for other names \(DNS:bridge\.example\.com, IP Address:192\.0\.2\.1\): use one of them in SLIPWAY_BRIDGE_URL, or renew/
    await expectRefused(pair, pair.caFile, '127.0.0.1', message)
    await expectRefused(pair, pair.caFile, 'localhost', message)
  })

  test('refuses an expired certificate', async () => {
    const pair = certificates({ days: -1 })
    const message = /shows an expired certificate: renew the file that SLIPWAY_BRIDGE_TLS_CERT_FILE names on the bridge/
    await expectRefused(pair, pair.caFile, '127.0.0.1', message)
  })

  test('reports a server that does not speak TLS', async () => {
    const plain = await listen(answerOk, { host: '127.0.0.1', port: 0, variable: 'none' })
    cleanups.push(() => plain.close())
    await expect(connect(certificates().caFile).call(`https://127.0.0.1:${plain.port}`)).rejects.toThrow(
      'does not speak TLS 1.2 or newer: check host and port in SLIPWAY_BRIDGE_URL',
    )
  })

  test('verifies certificates in spite of NODE_TLS_REJECT_UNAUTHORIZED=0 and logs a warning', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    cleanups.push(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
    await expectRefused(certificates(), certificates().caFile, '127.0.0.1', /a CA that is not trusted/)
    expect(connect().lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect/),
      }),
    ])
  })

  test.each([
    ['that is not there', (file: string) => fs.rmSync(file), 'ENOENT'],
    [
      'without a certificate',
      (file: string) => fs.writeFileSync(file, 'nothing'),
      'the file has no certificate in PEM',
    ],
  ])('does not start with a file of CA certificates %s', (_what, damage, message) => {
    const { caFile } = certificates()
    damage(caFile)
    expect(() => connect(caFile)).toThrow(ConfigurationError)
    expect(() => connect(caFile)).toThrow(message)
    expect(() => connect(caFile)).toThrow(/SLIPWAY_BRIDGE_CA_FILE names /)
  })

  test('trusts a renewed CA without a restart, and no longer trusts the previous one', async () => {
    const [first, second] = [certificates(), certificates()]
    const [before, after] = [await serve(first), await serve(second)]
    const { call, lines } = connect(first.caFile)
    const firstCa = fs.readFileSync(first.caFile)
    expect(await call(before.url)).toBe(200)
    await expect(call(after.url)).rejects.toThrow('a CA that is not trusted')
    fs.copyFileSync(second.caFile, first.caFile)
    await waitFor(() => call(after.url).catch(() => null), { what: 'the new CA to be trusted' })
    // This also applies to the connection that was open before.
    await expect(call(before.url)).rejects.toThrow('a CA that is not trusted')
    expect(lines.map(({ level }) => level)).toEqual(['info'])

    fs.writeFileSync(first.caFile, firstCa.subarray(0, 100))
    await waitFor(() => call(after.url).then(() => lines.length > 1), { what: 'the report of the broken file' })
    await sleep(2 * CHECK_MS)
    expect(await call(after.url)).toBe(200)
    expect(lines.slice(1)).toEqual([
      expect.objectContaining({
        level: 'error',
        message: 'the changed CA certificates cannot be used: the old ones stay in use',
      }),
    ])
  })

  test('reuses its connections and follows no redirect', async () => {
    const pair = certificates()
    let sockets = 0
    const elsewhere = await serve(pair)
    let away = 0
    elsewhere.server.server.on('request', () => {
      away += 1
    })
    const { url, server } = await serve(pair, (_request, response) =>
      response.writeHead(307, { location: elsewhere.url }).end('{}'),
    )
    server.server.on('secureConnection', () => {
      sockets += 1
    })
    const { call, connections } = connect(pair.caFile)
    for (let n = 0; n < 5; n += 1) expect(await call(url)).toBe(307)
    const { status, body } = await connections.download({ url, token: 'secret', idleMs: 5_000 })
    for await (const _piece of body);
    expect(status).toBe(307)
    expect({ sockets, away }).toEqual({ sockets: 1, away: 0 })
  })

  test('returns the head of an answer before its body', async () => {
    const pair = certificates()
    let end = () => {}
    const { url } = await serve(pair, (_request, response) => {
      response.writeHead(200).flushHeaders()
      end = () => void response.end('{"late":true}')
    })
    const { connections } = connect(pair.caFile)
    const { status, body } = await connections.post({
      url,
      token: 'secret',
      body: '{}',
      timeoutMs: 60_000,
      endingMs: 60_000,
    })
    expect(status).toBe(200)
    end()
    expect(String(await body)).toBe('{"late":true}')
  })

  test('ends a download if no data arrives', async () => {
    const pair = certificates()
    const { url } = await serve(pair, (_request, response) => void response.writeHead(200).write('beginning'))
    const { connections } = connect(pair.caFile)
    const { body } = await connections.download({ url, token: 'secret', idleMs: 200 })
    const read = async () => {
      for await (const _piece of body);
    }
    await expect(read()).rejects.toThrow('the bridge sent nothing for 200 ms')
  })
})
