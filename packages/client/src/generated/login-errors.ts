// Made by packages/client/scripts/generate.mjs from the OpenAPI document: `make client`.
export const LOGIN_ERRORS = {
  provider_unavailable: "The provider does not answer. Try again in a few minutes; who is logged in stays logged in.",
  provider_refused: "The provider has refused the login. Ask the administrator of the provider.",
  invalid_answer: "The answer of the provider is not valid. Log in again; if it happens again, ask an administrator.",
  login_expired: "This login took longer than 10 minutes, or was used before. Log in again.",
  other_browser: "This login began in another browser, or the browser refuses cookies. Log in again.",
  no_rights: "Your account at the provider has no rights here. Ask an administrator for a group that has some.",
  tenants_differ: "Your account at the provider belongs to several tenants. Ask an administrator to correct the rules.",
  unknown_tenant: "A rule for your account names a tenant that does not exist. Ask an administrator to correct it.",
  unknown_role: "A rule for your account names a role that does not exist. Ask an administrator to correct it.",
  unknown_environment: "A rule for your account names an environment that does not exist. Ask an administrator to correct it.",
  unknown_solution: "A rule for your account names a solution that does not exist. Ask an administrator to correct it.",
  address_taken: "Another account has your e-mail address. Ask an administrator to change one of them.",
  account_inactive: "Your account is suspended or inactive. Ask an administrator.",
  last_admin: "This login would take the admin role from the last administrator. Log in as another administrator first, or correct the rules.",
  failed: "Slipway could not complete the login. Try again in a moment; the log of the server has the reason.",
} as const
