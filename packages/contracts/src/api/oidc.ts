import { Type } from '@sinclair/typebox'
import { describe, Flag, Name, Strict, Text } from '../schema.ts'
import { STORY } from '../story.ts'

/**
 * Why a login with a provider failed. The code is the parameter `error` of the console's login page, which shows the sentence. No text
 * of a provider is among them: anybody can write the address of a page.
 */
export const LOGIN_ERRORS = {
  provider_unavailable: 'The provider does not answer. Try again in a few minutes; who is logged in stays logged in.',
  provider_refused: 'The provider has refused the login. Ask the administrator of the provider.',
  invalid_answer: 'The answer of the provider is not valid. Log in again; if it happens again, ask an administrator.',
  login_expired: 'This login took longer than 10 minutes, or was used before. Log in again.',
  other_browser: 'This login began in another browser, or the browser refuses cookies. Log in again.',
  no_rights: 'Your account at the provider has no rights here. Ask an administrator for a group that has some.',
  tenants_differ: 'Your account at the provider belongs to several tenants. Ask an administrator to correct the rules.',
  unknown_tenant: 'A rule for your account names a tenant that does not exist. Ask an administrator to correct it.',
  unknown_role: 'A rule for your account names a role that does not exist. Ask an administrator to correct it.',
  unknown_environment:
    'A rule for your account names an environment that does not exist. Ask an administrator to correct it.',
  unknown_solution: 'A rule for your account names a solution that does not exist. Ask an administrator to correct it.',
  address_taken: 'Another account has your e-mail address. Ask an administrator to change one of them.',
  account_inactive: 'Your account is suspended or inactive. Ask an administrator.',
  last_admin:
    'This login would take the admin role from the last administrator. Log in as another administrator first, or correct the rules.',
  failed: 'Slipway could not complete the login. Try again in a moment; the log of the server has the reason.',
} as const

export type LoginError = keyof typeof LOGIN_ERRORS

export const isLoginError = (code: string): code is LoginError => Object.hasOwn(LOGIN_ERRORS, code)

export const PROVIDER_ID = '^[a-z0-9-]{1,64}$'

export const LoginProvider = Strict({
  id: Text('Names the provider in paths', 'keycloak'),
  name: describe(Name, 'What the button of the login page says', 'Acme'),
  login_path: Text('Where a login begins. A browser opens it', '/api/v1/auth/oidc/keycloak/start'),
})

export const LoginProviders = Strict({
  password_login: Flag(
    'Whether users may log in with e-mail and password; if false, only users with `break_glass` may',
  ),
  providers: describe(Type.Array(LoginProvider), 'The OpenID Connect providers, in the order of the configuration'),
})

const Challenge = describe(
  Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  'The S256 code challenge of the program (RFC 7636)',
  'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
)
const Verifier = describe(
  Type.String({ pattern: '^[A-Za-z0-9._~-]{43,128}$' }),
  'The code verifier that belongs to the code challenge (RFC 7636)',
  'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
)

/** Either `return_to`, or all of `cli_port`, `code_challenge` and `state`. */
export const StartLogin = Strict({
  return_to: Type.Optional(
    describe(
      Type.String({ minLength: 1, maxLength: 2_000 }),
      'The path of this server to which the browser goes after the login; `/` when omitted',
      '/deployments',
    ),
  ),
  cli_port: Type.Optional(
    describe(
      Type.String({ pattern: '^[1-9][0-9]{3,4}$' }),
      'For a program: the port on 127.0.0.1 on which it waits for the code, 1024 to 65535',
      '49152',
    ),
  ),
  code_challenge: Type.Optional(Challenge),
  state: Type.Optional(
    describe(
      Type.String({ pattern: '^[A-Za-z0-9._~-]{1,512}$' }),
      'For a program: comes back unchanged with the code',
      'Rt7Hc1yQxL0pRw3k',
    ),
  ),
})

/** Providers add parameters of their own. */
export const LoginCallback = Type.Object(
  {
    state: Type.Optional(describe(Type.String({ maxLength: 512 }), 'The state of the login', 'Vb3kq9vZ0aT2m7Hc')),
    code: Type.Optional(describe(Type.String({ maxLength: 8_192 }), 'The authorization code', 'SplxlOBeZQQYbYS6')),
    iss: Type.Optional(
      describe(Type.String({ maxLength: 2_000 }), 'The issuer (RFC 9207)', 'https://login.example.com'),
    ),
    error: Type.Optional(describe(Type.String({ maxLength: 512 }), 'Why the provider refuses', 'access_denied')),
  },
  { additionalProperties: true },
)

export const CliToken = Strict({
  code: describe(
    Type.String({ minLength: 1, maxLength: 512 }),
    'The code that the browser brought to the program',
    STORY.content.slice(0, 43),
  ),
  code_verifier: Verifier,
})
