import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { fingerprint, KeyProblem, readHostKey, readPrivateKey } from '../src/ssh/index.ts'

const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
/** A key of ssh-keygen: the private and the public file. */
function made(...options: string[]): { text: string; publicLine: string } {
  files += 1
  const file = path.join(folder, `key-${files}`)
  execFileSync('ssh-keygen', ['-q', '-N', '', '-C', 'a comment', '-f', file, ...options])
  const [type = '', key = ''] = readFileSync(`${file}.pub`, 'utf8').split(' ')
  return { text: readFileSync(file, 'utf8'), publicLine: `${type} ${key}` }
}

/** What ssh-keygen tells of a private key in any format that it reads. */
function publicOf(text: string): string {
  files += 1
  const file = path.join(folder, `key-${files}`)
  writeFileSync(file, text, { mode: 0o600 })
  return execFileSync('ssh-keygen', ['-y', '-P', '', '-f', file], { encoding: 'utf8' })
    .split(' ')
    .slice(0, 2)
    .join(' ')
    .trim()
}

const problemOf = (read: () => unknown) => {
  try {
    read()
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(KeyProblem)
    return (error as Error).message
  }
}

const ed25519 = made('-t', 'ed25519')

describe('a private key', () => {
  test.each([
    ['Ed25519', ['-t', 'ed25519']],
    ['ECDSA P-256', ['-t', 'ecdsa', '-b', '256']],
    ['ECDSA P-384', ['-t', 'ecdsa', '-b', '384']],
    ['ECDSA P-521', ['-t', 'ecdsa', '-b', '521']],
    ['RSA', ['-t', 'rsa', '-b', '2048']],
    ['RSA in PEM form', ['-t', 'rsa', '-b', '2048', '-m', 'PEM']],
    ['ECDSA in PEM form', ['-t', 'ecdsa', '-m', 'PEM']],
    ['RSA in PKCS#8', ['-t', 'rsa', '-b', '2048', '-m', 'PKCS8']],
  ])('of ssh-keygen is read: %s', (_name, options) => {
    const { text, publicLine } = made(...options)
    for (const written of [text, text.replaceAll('\n', '\r\n'), `\n${text.trimEnd()}`]) {
      expect(readPrivateKey(written).publicKey).toBe(publicLine)
    }
  })

  test('of OpenSSL is read in PKCS#8, as ssh-keygen reads it', () => {
    const pem = { format: 'pem', type: 'pkcs8' } as const
    const keys = [
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      ...['P-256', 'P-384', 'P-521'].map((namedCurve) => generateKeyPairSync('ec', { namedCurve }).privateKey),
    ].map((key) => String(key.export(pem)))
    for (const text of keys) expect(readPrivateKey(text).publicKey).toBe(publicOf(text))
    // ssh-keygen does not read this form, and the SSH library does not either.
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const point = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url')
    const read = readPrivateKey(String(privateKey.export(pem)))
    expect(Buffer.from(read.publicKey.split(' ')[1] ?? '', 'base64').subarray(-32)).toEqual(point)
  })

  const lines = ed25519.text.trimEnd().split('\n')
  const replaced = (index: number, line: string) => lines.with(index, line).join('\n')
  const encrypted = {
    modulusLength: 2048,
    privateKeyEncoding: { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }
  const pemOf = (type: 'pkcs1' | 'pkcs8') =>
    generateKeyPairSync('rsa', {
      ...encrypted,
      privateKeyEncoding: { ...encrypted.privateKeyEncoding, type },
      publicKeyEncoding: { format: 'pem', type: 'spki' },
    } as never) as unknown as { privateKey: string; publicKey: string }
  const pkcs8 = pemOf('pkcs8')
  const dsa = generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 224 }).privateKey
  const k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey

  test.each([
    ['a passphrase of ssh-keygen', made('-t', 'ed25519', '-N', 'secret phrase').text, 'is protected by a passphrase'],
    ['a passphrase in PKCS#8', pkcs8.privateKey, 'is protected by a passphrase'],
    ['a passphrase in PKCS#1', pemOf('pkcs1').privateKey, 'is protected by a passphrase'],
    ['a public key', ed25519.publicLine, 'is a public key'],
    ['a public key in PEM form', pkcs8.publicKey, 'is a public key'],
    ['something else', 'hunter2', 'does not begin with "-----BEGIN … PRIVATE KEY-----"'],
    ['nothing', '  \n', 'does not begin with'],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'holds a CERTIFICATE'],
    ['a key of PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none', 'is a key of PuTTY'],
    ['a broken line', replaced(2, `${lines[2]?.slice(0, 30)} …`), 'is damaged in line 3'],
    ['a missing line', lines.toSpliced(3, 1).join('\n'), 'is damaged'],
    ['a missing end', lines.slice(0, -1).join('\n'), 'does not end with "-----END OPENSSH PRIVATE KEY-----"'],
    ['no line breaks', lines.join(' '), 'has no line breaks'],
    ['escaped line breaks', lines.join('\\n'), 'has "\\n" in place of line breaks'],
    ['DSA', String(dsa.export({ format: 'pem', type: 'pkcs8' })), 'has the type dsa'],
    ['another curve', String(k1.export({ format: 'pem', type: 'pkcs8' })), 'has the type EC with the curve secp256k1'],
  ])('with %s is refused with the reason, which quotes nothing of it', (_name, text, reason) => {
    const problem = problemOf(() => readPrivateKey(text))
    expect(problem).toContain(reason)
    for (const line of text.split(/\s|\\n/)) if (line.length > 20) expect(problem).not.toContain(line)
  })

  test('with any changed character is refused, or is the same key', () => {
    for (const { text } of [ed25519, made('-t', 'ecdsa'), made('-t', 'rsa', '-b', '1024', '-m', 'PEM')]) {
      const from = text.indexOf('\n') + 1
      for (let at = from; at < text.lastIndexOf('-----END'); at += 7) {
        if (text[at] === '\n' || text[at] === '=') continue
        const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
        const read = () => readPrivateKey(changed).publicKey
        // The comment and the check numbers are no part of the key.
        if (problemOf(read) === null) expect(read()).toBe(readPrivateKey(text).publicKey)
      }
    }
  })
})

describe('a host key', () => {
  const [type, base64 = ''] = ed25519.publicLine.split(' ')
  const print = fingerprint(Buffer.from(base64, 'base64'))

  test.each([
    ['a public key', ed25519.publicLine, type],
    ['a public key with a comment', ` ${ed25519.publicLine} root@web-1\n`, type],
    ['a line of known_hosts', `[web-1.example.com]:2222,10.0.0.1 ${ed25519.publicLine}`, type],
    ['a fingerprint', print, null],
  ])('is %s', (_name, text, expected) => {
    expect(readHostKey(text)).toEqual({ fingerprint: print, type: expected })
  })

  test.each([
    ['another text', 'given', 'is no host key of a known type'],
    ['an MD5 fingerprint', 'MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48', 'is an MD5 fingerprint'],
    ['a cut fingerprint', 'SHA256:tooshort', 'is no SHA256 fingerprint'],
    ['two keys', `${ed25519.publicLine}\n${ed25519.publicLine}`, 'has several lines'],
    ['a marked line', `@cert-authority * ${ed25519.publicLine}`, 'is a marked line'],
    ['a cut key', ed25519.publicLine.slice(0, -9), 'is damaged'],
    ['another type', `ssh-rsa ${base64}`, 'is damaged'],
    ['DSA', 'ssh-dss AAAAB3NzaC1kc3MAAACB', 'is no host key of a known type'],
    ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----', 'is a private key'],
  ])('is not %s', (_name, text, reason) => {
    expect(problemOf(() => readHostKey(text))).toContain(reason)
  })
})
