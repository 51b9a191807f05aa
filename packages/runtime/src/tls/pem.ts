import { X509Certificate } from 'node:crypto'

/**
 * The certificates of a PEM text, in order, without other blocks.
 * @throws Error if a certificate cannot be parsed
 */
export function pemCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?(-----END CERTIFICATE-----|$)/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}
