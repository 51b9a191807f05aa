import * as auth from '../auth.ts'
import { op } from './operation.ts'

export const authenticationOperations = {
  login: op({
    method: 'POST',
    path: '/auth/login',
    audit: 'auth.login',
    limit: 'login',
    refusals: ['INVALID_CREDENTIALS', 'SERVICE_UNAVAILABLE'],
    summary: 'Log in with e-mail and password',
    tag: 'authentication',
    access: 'public',
    body: auth.LoginRequest,
    responses: { 200: auth.LoginResponse },
  }),
  getCurrentUser: op({
    method: 'GET',
    path: '/auth/me',
    summary: 'The calling user',
    tag: 'authentication',
    access: 'authenticated',
    responses: { 200: auth.CurrentUser },
  }),
  createSseToken: op({
    method: 'POST',
    path: '/auth/sse-token',
    summary: 'A single-use token that opens one live stream',
    tag: 'authentication',
    access: 'authenticated',
    body: auth.SseTokenRequest,
    bodyOptional: true,
    responses: { 200: auth.SseTokenResponse },
  }),
} as const
