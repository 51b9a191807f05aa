import request from 'supertest'
import type { TestGateway } from './setup.ts'

export interface Login {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the form of the answers that they read
  body: any
  token: string
  /** The refresh cookie as a client sends it. */
  cookie: string
  setCookie: string
}

type App = Pick<TestGateway, 'app'>

function loginOf(response: request.Response): Login {
  const setCookie = ([response.headers['set-cookie']].flat()[0] as string | undefined) ?? ''
  const [cookie = ''] = setCookie.split(';')
  return { status: response.status, body: response.body, token: response.body.access_token ?? '', cookie, setCookie }
}

export const loginAs = async ({ app }: App, email: string, password: string) =>
  loginOf(await request(app).post('/api/v1/auth/login').send({ email, password }))

export const verify = async ({ app }: App, pending_token: string, code: string) =>
  loginOf(await request(app).post('/api/v1/auth/2fa/verify').send({ pending_token, code }))

export const refresh = async ({ app }: App, cookie: string) =>
  loginOf(await request(app).post('/api/v1/auth/refresh').set('Cookie', cookie))

/** Calls with this bearer token and returns `[status, code]`. */
export async function outcome(
  { app }: App,
  token: string,
  method: 'get' | 'post' | 'delete',
  path: string,
  body?: object,
) {
  const call = request(app)[method](`/api/v1${path}`).set('Authorization', `Bearer ${token}`)
  const response = await (body === undefined ? call : call.send(body))
  return [response.status, response.body.error?.code ?? null]
}

export const me = (gateway: App, token: string) => outcome(gateway, token, 'get', '/auth/me')
