import { Type } from '@sinclair/typebox'
import { compile } from '@slipway/contracts'
import { nameProblems } from '@slipway/domain'
import { normalizeEmail } from '../callers/calling-user.ts'
import type { ProviderUser } from '../login-providers/provider-client.ts'

/** What a new account takes from the claims of a provider. */
export interface Profile {
  email: string | null
  email_verified: boolean
  /** The name that the account gets if it is free. */
  username: string
  display_name: string | null
}

/** So that a number fits behind the name. */
const MAX_USERNAME = 240
const MAX_NAME = 255
const isEmail = compile(Type.String({ format: 'email', maxLength: 320 }))

/** Claims are texts of another system: what is no valid address or name is left out. */
export function profileOf({ subject, claims }: ProviderUser): Profile {
  const { email: address, email_verified, preferred_username, name } = claims as Record<string, unknown>
  const email = typeof address === 'string' ? normalizeEmail(address) : null
  const validEmail = email !== null && isEmail(email).length === 0 ? email : null
  const username = [preferred_username, validEmail, subject]
    .map((text) => asName(text, MAX_USERNAME))
    .find((text) => text !== null)
  return {
    email: validEmail,
    // Some providers send the text "true". It proves nothing more than no claim.
    email_verified: validEmail !== null && email_verified === true,
    username: username ?? 'user',
    display_name: asName(name, MAX_NAME),
  }
}

/** The text as a valid name, or null. */
function asName(text: unknown, maxLength: number): string | null {
  if (typeof text !== 'string') return null
  const name = [...text.trim()].slice(0, maxLength).join('').trim()
  return nameProblems(name).length === 0 ? name : null
}

const MAX_NUMBER = 200

/** The names that an account may get, in the order of preference: `ada`, `ada2`, `ada3`. */
export const usernamesFor = (username: string): string[] => [
  username,
  ...Array.from({ length: MAX_NUMBER - 1 }, (_, index) => `${username}${index + 2}`),
]
