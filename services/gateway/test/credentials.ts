import { createHmac } from 'node:crypto'
import request from 'supertest'
import type { TestGateway } from './setup.ts'

/** What authenticators do (RFC 6238), written down again: an oracle for ours. `shift` in steps of 30 s. */
export function totp(secret: string, shift = 0, now = Date.now()): string {
  const bits = [...secret]
    .map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0'))
    .join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000) + shift))
  const mac = createHmac('sha1', key).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

/**
 * Waits until no new time step can begin for some seconds, so that codes that are made now still fit when they arrive.
 */
export async function steadyClock(): Promise<void> {
  const left = 30_000 - (Date.now() % 30_000)
  if (left < 8_000) await new Promise((resolve) => setTimeout(resolve, left + 50))
}

export interface Login {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose form they assert
  body: any
  token: string
  /** The refresh cookie as a client sends it back. */
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

/** `[status, code]` of a call with this bearer. */
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
