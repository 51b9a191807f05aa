import { Anchor, Stack } from '@mantine/core'
import { Link, Navigate } from '@tanstack/react-router'
import { useRead } from '../api/queries.ts'
import { Page } from '../components/page.tsx'
import { loginFailure } from './login-address.ts'
import { LoginFailure } from './login-failure.tsx'

/** The address of the login page, for who is logged in: it says why another login failed, else it leads on. */
export function LoggedIn() {
  const { data } = useRead('listLoginProviders', {})
  if (loginFailure(window.location) === null) return <Navigate to="/" replace />
  return (
    <Page title="You are logged in">
      <Stack align="flex-start">
        <LoginFailure providers={data?.providers ?? []} />
        <Anchor component={Link} to="/">
          Go on with the present session
        </Anchor>
      </Stack>
    </Page>
  )
}
