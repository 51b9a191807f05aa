/** The result of a login: an access token for about an hour, and the refresh token that renews it. */
export interface Session {
  accessToken: string
  refreshToken?: string | undefined
}

/** Where a session is kept between calls; several processes may share one. */
export interface SessionStore {
  load(): Session | undefined
  save(session: Session | undefined): void
}

export interface Credentials {
  email: string
  password: string
  /** Called if the account has a second factor. Returns six digits, or a recovery code. */
  code?: () => string | Promise<string>
}

/** Keeps a session for as long as the process lives. */
export function inMemory(): SessionStore {
  let kept: Session | undefined
  return {
    load: () => kept,
    save: (session) => {
      kept = session
    },
  }
}

/** The refresh token among the cookies of an answer. */
export function refreshTokenOf(response: Response): string | undefined {
  for (const cookie of response.headers.getSetCookie()) {
    const [, value] = /^refresh_token=([^;]+)/.exec(cookie) ?? []
    if (value !== undefined) return value
  }
  return undefined
}
