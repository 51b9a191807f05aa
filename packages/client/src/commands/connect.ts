import { SlipwayClient } from '../client.ts'

export interface GlobalOptions {
  url: string
}

export const DEFAULT_URL = 'http://127.0.0.1:8080'

/** How long a command bears with a server that is restarted in the middle of it. */
const RETRY_FOR_MS = 60_000

/**
 * A client that is known to be let in. SLIPWAY_TOKEN (an access token or an API key) or SLIPWAY_ADMIN_EMAIL and
 * SLIPWAY_ADMIN_PASSWORD say as whom; secrets come from the environment alone, arguments are seen by every process.
 */
export async function connect({ url }: GlobalOptions): Promise<SlipwayClient> {
  const { SLIPWAY_TOKEN: token, SLIPWAY_ADMIN_EMAIL: email, SLIPWAY_ADMIN_PASSWORD: password } = process.env
  if (!token && !(email && password)) {
    throw new Error(
      'say as whom: set SLIPWAY_TOKEN, or SLIPWAY_ADMIN_EMAIL and SLIPWAY_ADMIN_PASSWORD (on the machine of `make run` they stand in .slipway/settings.env)',
    )
  }
  const client = new SlipwayClient({
    baseUrl: url,
    ...(token ? { token } : { credentials: { email: email ?? '', password: password ?? '' } }),
  })
  if (token) await client.me()
  else await client.login()
  client.connection.retryForMs = RETRY_FOR_MS
  return client
}
