import type { KeyRing } from '@slipway/runtime'
import { hashToken, randomToken } from '@slipway/runtime'
import { cliCodeKey, oidcLoginKey } from '@slipway/runtime/redis'
import type { Cache } from '../cache.ts'
import type { Binding } from '../login-providers/provider-client.ts'

export const LOGIN_SECONDS = 600
export const CLI_CODE_SECONDS = 60

/** A program that waits for the code of a login in the browser. */
export interface WaitingProgram {
  port: number
  code_challenge: string
  state: string
}

/** A login that has begun. */
export interface BegunLogin extends Omit<Binding, 'state'> {
  provider: string
  /** The hash of the secret in the cookie of the browser. */
  browser: string
  /** Where the browser goes afterwards: a path, or a program. */
  target: string | WaitingProgram
}

/** A login of a program that is complete in the browser. */
export interface CliLogin {
  provider: string
  user_id: string
  token_version: number
  code_challenge: string
}

/** What waits in Redis, sealed, under the hash of a random text. Taking it removes it, so that it works once. */
interface Waiting<T> {
  /** Stores it and returns the random text. */
  put(value: T): Promise<string>
  /** Null: it is unknown, too old, or was taken before. */
  take(text: string): Promise<T | null>
}

interface Options {
  cache: Cache
  keys: KeyRing
  namespace: string
}

export function createLoginStates(options: Options): { logins: Waiting<BegunLogin>; cliLogins: Waiting<CliLogin> } {
  const { namespace } = options
  return {
    logins: waiting(options, (hash) => oidcLoginKey(namespace, hash), LOGIN_SECONDS),
    cliLogins: waiting(options, (hash) => cliCodeKey(namespace, hash), CLI_CODE_SECONDS),
  }
}

function waiting<T>({ cache, keys }: Options, keyOf: (hash: string) => string, seconds: number): Waiting<T> {
  return {
    async put(value) {
      const text = randomToken()
      const key = keyOf(hashToken(text))
      const sealed = keys.seal(JSON.stringify(value), key)
      await cache.run((redis) => redis.set(key, sealed, 'EX', seconds))
      return text
    },
    async take(text) {
      const key = keyOf(hashToken(text))
      const sealed = await cache.run((redis) => redis.getdel(key))
      // Only this process family writes under these keys, and the seal proves it.
      return sealed === null ? null : (JSON.parse(keys.openText(sealed, key)) as T)
    },
  }
}
