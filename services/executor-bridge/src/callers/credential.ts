import { randomToken } from '@slipway/runtime'

const PARTS = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/

/** A new credential of an instance or an agent: its id, so that the one row is found, and 32 random bytes. Only its hash is kept. */
export const newCredential = (id: string) => `${id}.${randomToken(32)}`

/** The id in a credential, or in a token of a grant. */
export const idOf = (credential: string | undefined): string | undefined => PARTS.exec(credential ?? '')?.[1]
