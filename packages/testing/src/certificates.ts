import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { repositoryRoot } from './repository.ts'

export interface TestCertificates {
  folder: string
  /** What clients trust. */
  caFile: string
  certFile: string
  keyFile: string
  remove(): void
}

export interface TestCertificatesOptions {
  /** Host names and addresses in the certificate; those of loopback unless given. */
  names?: string[]
  /** How long the certificate is good; -1 makes an expired one. */
  days?: number
}

/** A private CA and a certificate of a server, made by the script that operators use. */
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
