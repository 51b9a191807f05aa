import { Anchor, Button, Center, Divider, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useEffect, useState } from 'react'
import { useRead } from '../api/queries.ts'
import { setPageTitle } from '../components/page-title.ts'
import { startAddress } from './login-address.ts'
import { LoginFailure } from './login-failure.tsx'
import { PasswordLogin } from './password-login.tsx'

interface Props {
  /** Whether a session has ended on this page. */
  wasLoggedIn: boolean
  onDone: () => Promise<void>
}

/** If the server does not say how to log in, the password is still worth a try. */
const UNKNOWN: Answer<'listLoginProviders'> = { password_login: true, providers: [] }

/** A button for each provider, and e-mail and password. */
export function Login({ wasLoggedIn, onDone }: Props) {
  const ways = useRead('listLoginProviders', {})
  useEffect(() => setPageTitle('Log in'), [])
  const known = ways.data ?? (ways.error === null ? null : UNKNOWN)
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder shadow="sm" p="xl" w={380}>
        <Stack>
          <Title order={1} size="h2">
            Slipway
          </Title>
          {wasLoggedIn && <Text size="sm">Your session has ended. Log in to go on where you were.</Text>}
          {known === null ? <Loader aria-label="Loading" mx="auto" /> : <Ways ways={known} onDone={onDone} />}
        </Stack>
      </Paper>
    </Center>
  )
}

interface WaysProps {
  ways: Answer<'listLoginProviders'>
  onDone: () => Promise<void>
}

function Ways({ ways: { password_login, providers }, onDone }: WaysProps) {
  const [isEmergency, setEmergency] = useState(false)
  return (
    <>
      <LoginFailure providers={providers} />
      {providers.map(({ id, name, login_path }) => (
        <Button key={id} component="a" href={startAddress(login_path, window.location)} fullWidth>
          Log in with {name}
        </Button>
      ))}
      {password_login && providers.length > 0 && <Divider label="or" />}
      {password_login || isEmergency ? (
        <PasswordLogin isFocused={providers.length === 0 || isEmergency} onDone={onDone} />
      ) : (
        <Text size="xs" c="dimmed">
          Password login is switched off.{' '}
          <Anchor component="button" type="button" size="xs" onClick={() => setEmergency(true)}>
            Log in to an emergency account
          </Anchor>
        </Text>
      )}
    </>
  )
}
