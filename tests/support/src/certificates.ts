import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { repositoryRoot } from './repository.ts'

export interface TestCertificates {
  folder: string
  /** The CA certificate for clients. */
  caFile: string
  certFile: string
  keyFile: string
  remove(): void
}

export interface TestCertificatesOptions {
  /** Host names and addresses in the certificate; by default, those of loopback. */
  names?: string[]
  /** Days until the certificate expires; -1 makes an expired certificate. */
  days?: number
}

/** Makes a private CA and a server certificate with the script for operators. */
export function makeCertificates(options: TestCertificatesOptions = {}): TestCertificates {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-certificates-'))
  const { names = ['localhost', '127.0.0.1'], days = 90 } = options
  execFileSync(path.join(repositoryRoot, 'deploy/certificates.sh'), [folder, ...names], {
    env: { PATH: process.env['PATH'], SLIPWAY_CERTIFICATE_DAYS: String(days) },
    stdio: 'pipe',
  })
  return {
    folder,
    caFile: path.join(folder, 'trust/ca.crt'),
    certFile: path.join(folder, 'tls/tls.crt'),
    keyFile: path.join(folder, 'tls/tls.key'),
    remove: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}
