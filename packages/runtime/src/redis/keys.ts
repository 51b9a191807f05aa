/**
 * The names of all keys in Redis. users/rights.ts makes the patterns of the users from them, with `*` in place of an id: a key
 * with another name is refused to every service.
 */

/** The live stream of a deployment: `StreamBatch` and `StreamPartialLine`. */
export const streamKey = (namespace: string, deploymentId: string) => `${namespace}:deployment:${deploymentId}:stream`

/** An SSE token, by its hash. The value is a sealed JSON `SseTokenRecord`, bound to this key. */
export const sseTokenKey = (namespace: string, tokenHash: string) => `${namespace}:sse-token:${tokenHash}`

/** The stream sessions of a credential. */
export const sseSessionsKey = (namespace: string, credentialId: string) => `${namespace}:sse-sessions:${credentialId}`

/** The number of attempts of a pending token of a login with two factors. */
export const pendingTokenKey = (namespace: string, tokenId: string) => `${namespace}:pending-2fa:${tokenId}`

/** The number of wrong passwords of a user who is logged in. */
export const wrongPasswordsKey = (namespace: string, userId: string) => `${namespace}:wrong-passwords:${userId}`

/** A login with a provider that has begun, by the hash of its state. The value is sealed JSON, bound to this key. */
export const oidcLoginKey = (namespace: string, stateHash: string) => `${namespace}:oidc-login:${stateHash}`

/** A login of a program in the browser, by the hash of its code. The value is sealed JSON, bound to this key. */
export const cliCodeKey = (namespace: string, codeHash: string) => `${namespace}:cli-code:${codeHash}`

/** The bucket of a client address. */
export const bucketKey = (namespace: string, address: string) => `${namespace}:limit:${address}`

/** The times of the latest refused exchanges of tokens of a client address. */
export const exchangeKey = (namespace: string, address: string) => `${namespace}:exchange:${address}`

/** Redis Cluster needs both keys in one hash slot, because one script uses them. */
export const loginKeys = (namespace: string, address: string) => ({
  attempts: `${namespace}:login:{${address}}:attempts`,
  lock: `${namespace}:login:{${address}}:lock`,
})
