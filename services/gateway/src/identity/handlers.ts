import type { Dependencies } from '../dependencies.ts'
import { accountHandlers } from './account.ts'
import { apiKeyHandlers } from './api-keys.ts'
import { createAttempts } from './attempts.ts'
import { rightHandlers } from './can.ts'
import { loginHandlers } from './login.ts'
import { createRefreshCookie } from './refresh-cookie.ts'
import { secondFactorHandlers } from './second-factor.ts'
import { sseTokenHandlers } from './sse-tokens.ts'
import { exchangeHandlers } from './tokens/exchange.ts'
import { createIssuerKeys } from './tokens/issuer-keys.ts'

export function identityHandlers(dependencies: Dependencies) {
  const parts = {
    ...dependencies,
    attempts: createAttempts(dependencies.cache, dependencies.namespace),
    refreshCookie: createRefreshCookie({ secure: dependencies.cookieSecure }),
  }
  const { tokenIssuers, tokenClock, logger } = dependencies
  const issuerKeys = createIssuerKeys({ ...tokenIssuers, now: tokenClock, logger })
  return {
    ...exchangeHandlers({ ...dependencies, issuerKeys, now: tokenClock }),
    ...loginHandlers(parts),
    ...accountHandlers(parts),
    ...secondFactorHandlers(parts),
    ...rightHandlers(parts),
    ...apiKeyHandlers(parts),
    ...sseTokenHandlers(parts),
  }
}
