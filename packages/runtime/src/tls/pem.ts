import { X509Certificate } from 'node:crypto'

/**
 * The certificates of a PEM text, in their order; other blocks are left out.
 * @throws Error when one of them cannot be parsed
 */
export function pemCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?(-----END CERTIFICATE-----|$)/g) ?? []
  return blocks.map((block) => new X509Certificate(block))
}
