// deploy/certificates.sh, which makes and renews the certificate of the bridge.
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-certificates-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const run = (names: string[], env: Record<string, string> = {}) =>
  execFileSync(path.join(repositoryRoot, 'deploy/certificates.sh'), [folder, ...names], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: 'pipe',
  })
const read = (file: string) => fs.readFileSync(path.join(folder, file), 'utf8')
const certificate = () => new X509Certificate(read('tls/tls.crt'))

test('makes a certificate for the given names, of a CA that clients can trust', () => {
  run(['executor-bridge', 'bridge.example.com', '10.1.2.3'])
  expect(certificate().subjectAltName).toBe('DNS:executor-bridge, DNS:bridge.example.com, IP Address:10.1.2.3')
  expect(certificate().verify(new X509Certificate(read('trust/ca.crt')).publicKey)).toBe(true)
})

test('keeps a valid certificate, and renews it for other names and when less than a third of its days is left', () => {
  run(['executor-bridge', 'bridge.example.com'])
  const first = certificate().serialNumber
  run(['executor-bridge', 'bridge.example.com'])
  expect(certificate().serialNumber).toBe(first)
  run(['executor-bridge'])
  const second = certificate()
  expect(second.subjectAltName).toBe('DNS:executor-bridge')
  run(['executor-bridge'], { SLIPWAY_CERTIFICATE_DAYS: '300' })
  expect(certificate().serialNumber).not.toBe(second.serialNumber)
})

test('makes a new CA when the former one is deleted, and keeps the former one trusted', () => {
  run(['executor-bridge'])
  const former = read('authority/ca.crt')
  fs.rmSync(path.join(folder, 'authority'), { recursive: true })
  run(['executor-bridge'])
  expect(read('authority/ca.crt')).not.toBe(former)
  expect(read('trust/ca.crt')).toBe(`${former}${read('authority/ca.crt')}`)
})
