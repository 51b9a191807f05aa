import type { Suite } from './suite.ts'

export interface Answer<B = Record<string, unknown>> {
  status: number
  headers: Headers
  body: B
}

/** A plain HTTP client for tests of the public interface. */
export interface Api {
  token: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose form they assert
  call<B = any>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<B>>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  get<B = any>(path: string): Promise<Answer<B>>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  post<B = any>(path: string, body?: unknown): Promise<Answer<B>>
}

/** Logs in as the suite's administrator. */
export async function loginToSuite(suite: Pick<Suite, 'url' | 'admin'>): Promise<Api> {
  const login = await request(suite.url, '', 'POST', '/auth/login', suite.admin)
  if (login.status !== 200) throw new Error(`login answered ${login.status}: ${JSON.stringify(login.body)}`)
  return apiWithToken(suite.url, (login.body as { access_token: string }).access_token)
}

export function apiWithToken(url: string, token: string): Api {
  return {
    token,
    // biome-ignore lint/suspicious/noExplicitAny: see Api
    call: (method, path, body, headers) => request(url, token, method, path, body, headers) as Promise<any>,
    // biome-ignore lint/suspicious/noExplicitAny: see Api
    get: (path) => request(url, token, 'GET', path) as Promise<any>,
    // biome-ignore lint/suspicious/noExplicitAny: see Api
    post: (path, body) => request(url, token, 'POST', path, body) as Promise<any>,
  }
}

async function request(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<unknown>> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : isJson ? JSON.parse(text) : text,
  }
}
