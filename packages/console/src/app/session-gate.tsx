import { Button, Center, Loader, Stack } from '@mantine/core'
import { AuthenticationError, PermissionError } from '@slipway/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo } from 'react'
import { client, onSessionEnd } from '../api/client.ts'
import { ErrorAlert } from '../components/error-alert.tsx'
import { type Session, SessionProvider, type User } from '../session/session.tsx'
import { Login } from './login.tsx'

const CURRENT_USER = ['getCurrentUser']
/** Also finds out that roles have changed, or that the session is over while nothing else is read. */
const READ_EVERY_MS = 60_000

/** Shows what is inside to a user who is logged in, and the login to everybody else. The address stays. */
export function SessionGate({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const current = useQuery({
    queryKey: CURRENT_USER,
    queryFn: async () => {
      const user = await client.call('getCurrentUser')
      const before = queries.getQueryData<User>(CURRENT_USER)
      // What one user has read is not for the next one.
      if (before !== undefined && before.id !== user.id) {
        queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== CURRENT_USER[0] })
      }
      return user
    },
    retry: false,
    staleTime: READ_EVERY_MS,
    refetchInterval: READ_EVERY_MS,
  })
  useEffect(() => {
    const readAgain = () => void queries.refetchQueries({ queryKey: CURRENT_USER }, { cancelRefetch: false })
    const isKnown = () => queries.getQueryState(CURRENT_USER)?.status === 'success'
    // Without the condition, the failure of this very call would start the call again.
    const stops = [onSessionEnd(() => isKnown() && readAgain()), onOtherTab(readAgain)]
    return () => {
      for (const stop of stops) stop()
    }
  }, [queries])

  const user = current.data
  const session = useMemo<Session | null>(
    () =>
      user === undefined
        ? null
        : {
            user,
            can: (permission) => user.permissions.includes(permission) || user.permissions.includes('*'),
            logout: async () => {
              await client.logout().catch((error: unknown) => {
                // The session was over before.
                if (!(error instanceof AuthenticationError)) throw error
              })
              tellOtherTabs()
              queries.clear()
              window.location.assign('/')
            },
          },
    [user, queries],
  )
  if (current.error instanceof AuthenticationError) {
    const onDone = async () => {
      tellOtherTabs()
      await current.refetch()
    }
    return <Login wasLoggedIn={user !== undefined} onDone={onDone} />
  }
  // An account that is not active any more is refused even its own record.
  if (session === null || current.error instanceof PermissionError)
    return <Starting error={current.error} onRetry={() => current.refetch()} />
  return <SessionProvider session={session}>{children}</SessionProvider>
}

// Tabs share the cookie of the session, so a login or logout in one of them counts for all.
const channel = new BroadcastChannel('slipway-session')

const tellOtherTabs = () => channel.postMessage('changed')

/** Calls the listener after a login or logout in another tab. Returns how to stop that. */
function onOtherTab(listener: () => void): () => void {
  channel.addEventListener('message', listener)
  return () => channel.removeEventListener('message', listener)
}

function Starting({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  return (
    <Center mih="100vh" p="md" component="main">
      {error === null ? (
        <Loader aria-label="Loading" />
      ) : (
        <Stack maw={520}>
          <ErrorAlert error={error} />
          <Button onClick={onRetry}>Try again</Button>
        </Stack>
      )}
    </Center>
  )
}
