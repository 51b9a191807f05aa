import { UsageError } from '../exit-code.ts'

/** `svc_`, 43 characters and a checksum of 6. */
const KEY_PREFIX = 'svc_'
const KEY_LENGTH = 53
/** An access token: three parts in base64url, and the first is JSON. */
const ACCESS_TOKEN = /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/

export type CredentialVariable = 'SLIPWAY_TOKEN' | 'SLIPWAY_API_KEY'

/**
 * Refuses what cannot be the credential that its variable is for. The server would only say that it knows no such credential.
 * The errors never show any part of the value.
 * @throws UsageError
 */
export function checkCredential(name: CredentialVariable, value: string): string {
  const problem = describeForm(value) ?? (name === 'SLIPWAY_API_KEY' ? describeKey(value) : describeToken(value))
  if (problem !== null) throw new UsageError(`${name} ${problem}`)
  return value
}

function describeForm(value: string): string | null {
  if (/^bearer\s/i.test(value)) return 'begins with "Bearer": set it to what follows, without this word'
  if (/^["'].*["']$|^["']|["']$/.test(value)) return 'has quotes around its value: leave them out'
  if (/\s/.test(value)) return 'contains blanks or line breaks: set it to the credential alone'
  return null
}

function describeKey(value: string): string | null {
  if (ACCESS_TOKEN.test(value)) return 'holds an access token and no API key: set SLIPWAY_TOKEN to it instead'
  if (!value.startsWith(KEY_PREFIX))
    return `is no API key of Slipway: a key begins with ${KEY_PREFIX}; make one with \`slipway keys create NAME\``
  if (value.length !== KEY_LENGTH)
    return `is not a whole API key: it has ${value.length} characters, and a key has ${KEY_LENGTH}; copy it again`
  if (!/^\w[\w-]*$/.test(value))
    return 'is no API key of Slipway: a key has only letters, digits, - and _; copy it again'
  return null
}

const describeToken = (value: string): string | null =>
  value.startsWith(KEY_PREFIX) ? 'holds an API key and no access token: set SLIPWAY_API_KEY to it instead' : null
