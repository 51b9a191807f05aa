import { Alert } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { loginFailure } from './login-address.ts'

/** Why the login with a provider failed that led to this address. */
export function LoginFailure({ providers }: { providers: Answer<'listLoginProviders'>['providers'] }) {
  const failure = loginFailure(window.location)
  if (failure === null) return null
  const name = providers.find(({ id }) => id === failure.provider)?.name
  return (
    <Alert color="red" title={`The login${name === undefined ? '' : ` with ${name}`} did not work`} role="alert">
      {failure.sentence}
    </Alert>
  )
}
