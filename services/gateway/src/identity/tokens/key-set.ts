import { Type } from '@sinclair/typebox'
import { compile, type Static } from '@slipway/contracts'
import { DestinationRefused, getOutbound } from '@slipway/runtime'
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { IssuerRules } from '../../dependencies.ts'
import { isPlainLoopback, issuerUrlProblem } from './issuer-url.ts'

const MAX_ANSWER_BYTES = 1024 * 1024
const ANSWER_MS = 5_000
/** Both answers together. The caller of the gateway waits at most 10 s. */
const BOTH_ANSWERS_MS = 8_000

const DISCOVERY_PATH = '/.well-known/openid-configuration'

/** The keys of an issuer, with the size of their JSON in bytes. */
export interface KeySet {
  find: JWTVerifyGetKey
  bytes: number
}

/** The keys of an issuer could not be read. The message says why, without an address. */
export class IssuerUnavailable extends Error {
  override name = 'IssuerUnavailable'
}

const Discovery = Type.Object({ issuer: Type.String(), jwks_uri: Type.String() })
const problemsOfDiscovery = compile(Discovery)
const Keys = Type.Object({ keys: Type.Array(Type.Object({ kty: Type.String() })) })
const problemsOfKeys = compile(Keys)

/**
 * Finds and reads the keys of an issuer by OpenID Connect discovery.
 * @throws IssuerUnavailable
 */
export async function readKeySet(issuer: string, rules: IssuerRules): Promise<KeySet> {
  const deadline = performance.now() + BOTH_ANSWERS_MS
  const place = requireUrl(`${issuer.replace(/\/+$/, '')}${DISCOVERY_PATH}`, 'the issuer', rules)
  const discovery = parse(await read(place, 'the discovery document', rules, deadline), 'the discovery document')
  if (!isDiscovery(discovery)) throw new IssuerUnavailable('the discovery document lacks issuer or jwks_uri')
  if (discovery.issuer !== issuer) throw new IssuerUnavailable('the discovery document is of another issuer')
  const keysPlace = requireUrl(discovery.jwks_uri, 'the jwks_uri of the discovery document', rules)
  const text = await read(keysPlace, 'the key set', rules, deadline)
  const keys = parse(text, 'the key set')
  if (!isKeySet(keys)) throw new IssuerUnavailable('the key set is no JSON Web Key Set')
  return { find: createLocalJWKSet(keys), bytes: text.length }
}

function isDiscovery(value: unknown): value is Static<typeof Discovery> {
  return problemsOfDiscovery(value).length === 0
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return problemsOfKeys(value).length === 0
}

function requireUrl(text: string, what: string, rules: IssuerRules): URL {
  const problem = issuerUrlProblem(text, rules)
  if (problem !== null) throw new IssuerUnavailable(`${what} ${problem}`)
  return new URL(text)
}

async function read(url: URL, what: string, rules: IssuerRules, deadline: number): Promise<Buffer> {
  const timeoutMs = Math.min(rules.answerMs ?? ANSWER_MS, Math.max(1, deadline - performance.now()))
  const allowPrivate = rules.allowPrivate || isPlainLoopback(url)
  const headers = { accept: 'application/json' }
  try {
    const get = { url, headers, timeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES, to: 'the issuer' }
    const { status, body } = await getOutbound(get, { ...rules, allowPrivate })
    // Redirects are not followed: they could lead to any host.
    if (status !== 200) throw new IssuerUnavailable(`${what} was answered with ${status} instead of 200`)
    return body
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error
    throw new IssuerUnavailable(`${what} could not be read: ${reasonOf(error)}`, { cause: error })
  }
}

/** Messages of network errors contain addresses, so only their code is shown. */
function reasonOf(error: unknown): string {
  if (error instanceof DestinationRefused) return `its host ${error.message}`
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

function parse(text: Buffer, what: string): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    throw new IssuerUnavailable(`${what} is not valid JSON`)
  }
}
