// An OpenID Connect provider, and a browser that logs in at it. Apart from the rest, because few tests load them.

export { type Browser, openBrowser, type Visited } from './browser.ts'
export { type OidcClient, type OidcProvider, type OidcUser, startOidcProvider } from './provider.ts'
