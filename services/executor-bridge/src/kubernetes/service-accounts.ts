import { Type } from '@sinclair/typebox'
import { compile } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from 'jose'
import { unauthorized } from '../callers/refusal.ts'
import { type ClusterFiles, KeysUnavailable, readJson } from './cluster-files.ts'

/** The identity in a token of a service account. */
export interface PodIdentity {
  /** `namespace/name` of the service account. */
  account: string
  /** Name of the pod that the token is bound to. */
  pod: string
}

export interface ServiceAccountRules extends ClusterFiles {
  /** The value that `iss` of each token must have. */
  issuer: string
  audience: string
  /** The service accounts that may join, as `namespace/name`. */
  accounts: readonly string[]
  /** The address of the cluster's keys. Without it, OIDC discovery finds the address. */
  keysUrl?: string | undefined
}

export interface ServiceAccounts {
  /** @throws Problem UNAUTHORIZED if the token does not permit a join, SERVICE_UNAVAILABLE if the cluster's keys cannot be read */
  identify(token: string): Promise<PodIdentity>
}

/** The algorithms of API servers. Symmetric algorithms and `none` are never accepted. */
const ALGORITHMS = ['RS256', 'ES256', 'ES384', 'ES512']
const CLOCK_TOLERANCE_SECONDS = 5

const BoundToPod = Type.Object({ pod: Type.Object({ name: Type.String({ minLength: 1 }) }) })
const problemsOfBinding = compile(BoundToPod)
const Discovery = Type.Object({ issuer: Type.String(), jwks_uri: Type.String({ format: 'uri' }) })
const problemsOfDiscovery = compile(Discovery)

/** Verifies tokens that Kubernetes projects into pods, by the keys of one cluster. */
export function createServiceAccounts(rules: ServiceAccountRules): ServiceAccounts {
  let keys: Promise<RemoteJWKSet> | undefined

  /** Discovered once. After a failed discovery, the next token tries again. */
  function keySet(): Promise<RemoteJWKSet> {
    keys ??= keySetOf(rules).catch((error) => {
      keys = undefined
      throw error
    })
    return keys
  }

  return {
    async identify(token) {
      try {
        const resolve = await keySet()
        const { issuer, audience } = rules
        const { payload } = await jwtVerify(token, resolve, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          requiredClaims: ['exp', 'sub'],
        })
        return identityOf(payload, rules)
      } catch (error) {
        throw refusalOf(error, rules)
      }
    },
  }
}

async function keySetOf(rules: ServiceAccountRules): Promise<RemoteJWKSet> {
  const url = rules.keysUrl === undefined ? await discoveredKeys(rules) : new URL(rules.keysUrl)
  // Caches the keys for ten minutes. For an unknown key it reads them again, at most every 30 seconds.
  return createRemoteJWKSet(url, {
    [customFetch]: async (address) => Response.json(await readJson(new URL(address), rules)),
  })
}

async function discoveredKeys(rules: ServiceAccountRules): Promise<URL> {
  const url = new URL(`${rules.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`)
  const document = await readJson(url, rules)
  if (!isDiscovery(document)) throw new KeysUnavailable(`${url} is no OIDC discovery document`)
  if (document.issuer !== rules.issuer) {
    throw new KeysUnavailable(`${url} is of the issuer ${document.issuer}, not ${rules.issuer}`)
  }
  const keys = new URL(document.jwks_uri)
  // On plain HTTP, an attacker in the network could replace the keys.
  if (keys.protocol !== 'https:' && keys.protocol !== url.protocol) {
    throw new KeysUnavailable(`${url} names keys at ${keys.protocol}//, which is not encrypted`)
  }
  return keys
}

function isDiscovery(value: unknown): value is { issuer: string; jwks_uri: string } {
  return problemsOfDiscovery(value).length === 0
}

function identityOf(payload: JWTPayload, { accounts }: ServiceAccountRules): PodIdentity {
  const [, namespace, name] = /^system:serviceaccount:([^:/]+):([^:/]+)$/.exec(payload.sub ?? '') ?? []
  const account = `${namespace}/${name}`
  if (namespace === undefined || !accounts.includes(account)) {
    throw unauthorized(
      `The service account ${namespace === undefined ? 'of the token' : account} may not join: add it to ` +
        'SLIPWAY_KUBERNETES_SERVICE_ACCOUNTS of the executor-bridge, or use a join token',
    )
  }
  const binding = payload['kubernetes.io']
  if (!isBoundToPod(binding)) {
    throw unauthorized('The service account token is not bound to a pod: use a projected token of the pod')
  }
  return { account, pod: binding.pod.name }
}

function isBoundToPod(value: unknown): value is { pod: { name: string } } {
  return problemsOfBinding(value).length === 0
}

function refusalOf(error: unknown, { issuer, audience }: ServiceAccountRules): unknown {
  if (error instanceof KeysUnavailable || error instanceof errors.JWKSInvalid || error instanceof errors.JWKSTimeout) {
    return new Problem('SERVICE_UNAVAILABLE', `The keys of the Kubernetes cluster are not available: ${error.message}`)
  }
  if (error instanceof errors.JWTExpired) {
    return unauthorized(
      'The service account token has expired: mount it as a projected volume, which Kubernetes renews',
    )
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') {
      return unauthorized(`The service account token is not for the audience ${audience}: project one that is`)
    }
    if (error.claim === 'iss') return unauthorized(`The service account token is not of the issuer ${issuer}`)
    return unauthorized(`The claim ${error.claim} of the service account token is missing or not valid`)
  }
  if (error instanceof errors.JOSEError) {
    return unauthorized('The service account token is not signed by a key of the cluster')
  }
  return error
}
