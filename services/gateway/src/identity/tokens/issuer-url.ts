import { urlProblem } from '@slipway/runtime'

/** The hosts of this machine, as URLs write them. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Whether a URL leads to this machine without encryption. Only a development setup may do that. */
export const isPlainLoopback = ({ protocol, hostname }: URL) => protocol === 'http:' && LOOPBACK.test(hostname)

/** The problem of the URL of an issuer or of its keys; null without one. */
export function issuerUrlProblem(text: string, { isDevelopment }: { isDevelopment: boolean }): string | null {
  const problem = urlProblem(text)
  if (problem !== null) return problem
  const url = new URL(text)
  if (url.protocol === 'https:' || (isDevelopment && isPlainLoopback(url))) return null
  return 'must begin with https://'
}

/** An issuer is compared as a text, so it has no parts that a URL may have in several forms. */
export function issuerProblem(text: string, rules: { isDevelopment: boolean }): string | null {
  const problem = issuerUrlProblem(text, rules)
  if (problem !== null) return problem
  return text.includes('?') ? 'must have no query' : null
}
