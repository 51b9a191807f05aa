import { ConfigurationError } from '@slipway/runtime'

interface Variables {
  SLIPWAY_OIDC_FILE?: string
  SLIPWAY_PUBLIC_URL?: string
  SLIPWAY_DEVELOPMENT: boolean
  SLIPWAY_HOST: string
  SLIPWAY_PORT: number
}

const VARIABLE = 'SLIPWAY_PUBLIC_URL'
const EXAMPLE = 'https://slipway.example.com'

/**
 * The address of this server, as browsers see it. Providers send browsers back to it, so it must not come from a request.
 * @throws ConfigurationError
 */
export function readPublicUrl(variables: Variables): string {
  const { SLIPWAY_PUBLIC_URL: given, SLIPWAY_OIDC_FILE: file, SLIPWAY_DEVELOPMENT: isDevelopment } = variables
  const wrong = (problem: string) => new ConfigurationError([{ variable: VARIABLE, problem, example: EXAMPLE }])
  if (given === undefined) {
    if (file !== undefined && !isDevelopment) {
      throw wrong('is missing: providers of logins send browsers back to it (SLIPWAY_OIDC_FILE)')
    }
    const { SLIPWAY_HOST: host, SLIPWAY_PORT: port } = variables
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  }
  const { origin, pathname, search, hash, username, password } = new URL(given)
  const isOrigin = pathname === '/' && search === '' && hash === '' && username === '' && password === ''
  if (!isOrigin) throw wrong('must be an address without user name, path, query and fragment')
  return origin
}
