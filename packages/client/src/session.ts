import type { AuthenticationError } from './errors.ts'

/** The result of a login: an access token for one hour, and the refresh token that renews it. */
export interface Session {
  accessToken: string
  refreshToken?: string | undefined
  /** Of a service account: milliseconds since 1970. */
  expiresAt?: number
}

/** Stores a session between calls. Several processes may share a store. */
export interface SessionStore {
  load(): Session | undefined
  save(session: Session | undefined): void
}

export interface Credentials {
  email: string
  password: string
  /** Called if the account has a second factor. Returns six digits, or a recovery code. */
  code?: () => string | Promise<string>
  /** Called if a code is wrong. `code` is then called again; without this, the login fails. */
  onWrongCode?: (error: AuthenticationError) => void
}

/** An account of pipelines. It exchanges tokens that the platform of the pipeline issues (ID tokens) for access tokens. */
export interface ServiceAccount {
  name: string
  /** Returns an ID token that was not exchanged yet. `isRenewal`: an access token of this process ends soon, or has ended. */
  getIdToken: (use: { isRenewal: boolean }) => Promise<string>
}

/** What a login in the browser ends with. */
export interface LoginCode {
  code: string
  /** The secret whose hash began the login (PKCE). */
  verifier: string
}

export function createMemoryStore(): SessionStore {
  let stored: Session | undefined
  return {
    load: () => stored,
    save: (session) => {
      stored = session
    },
  }
}

export function refreshTokenOf(headers: Headers): string | undefined {
  for (const cookie of headers.getSetCookie()) {
    const [, value] = /^refresh_token=([^;]+)/.exec(cookie) ?? []
    if (value !== undefined) return value
  }
  return undefined
}
