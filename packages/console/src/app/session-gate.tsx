import { Button, Center, Loader, Stack } from '@mantine/core'
import { AuthenticationError, PermissionError } from '@slipway/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo } from 'react'
import { client, onSessionEnd } from '../api/client.ts'
import { usePulse, useReadEvery, useReturnOfServer } from '../api/live.ts'
import { isOfSilence } from '../api/server-news.ts'
import { ErrorAlert } from '../components/error-alert.tsx'
import { Silence } from '../components/silence.tsx'
import { askedOf } from '../session/right-question.ts'
import { type Session, SessionProvider, type User } from '../session/session.tsx'
import { Login } from './login.tsx'
import { LOGIN_PATH, wantedPath } from './login-address.ts'

const CURRENT_USER = ['getCurrentUser']

interface Current {
  user: User
  /** The permissions that the user has in a scope only. */
  scoped: readonly string[]
  scopedReadAt: number
}

/** Also finds out that roles have changed, or that the session is over while nothing else is read. */
const READ_EVERY_MS = 60_000
const RETRY_MS = 1_000
/** Each permission in a scope is a call. */
const SCOPED_EVERY_MS = 600_000

/** Shows what is inside to a user who is logged in, and the login to everybody else. The address stays. */
export function SessionGate({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const current = useQuery({
    queryKey: CURRENT_USER,
    queryFn: async () => {
      const user = await client.call('getCurrentUser')
      const before = queries.getQueryData<Current>(CURRENT_USER)
      const isSame = before !== undefined && before.user.id === user.id && rightsOf(before.user) === rightsOf(user)
      // What one user has read is not for the next one.
      if (before !== undefined && before.user.id !== user.id) {
        queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== CURRENT_USER[0] })
      } else if (before !== undefined && !isSame) {
        void queries.invalidateQueries({ queryKey: ['askRight'] })
      }
      if (before !== undefined && isSame && Date.now() - before.scopedReadAt < SCOPED_EVERY_MS)
        return { ...before, user }
      return { user, scoped: await scopedPermissions(user), scopedReadAt: Date.now() }
    },
    // A silent server says nothing about the session.
    retry: (_count, error) => isOfSilence(error),
    retryDelay: RETRY_MS,
    staleTime: READ_EVERY_MS,
  })
  useReadEvery('getCurrentUser', READ_EVERY_MS, true)
  usePulse()
  useReturnOfServer()
  useEffect(() => {
    const readAgain = () => void queries.refetchQueries({ queryKey: CURRENT_USER }, { cancelRefetch: false })
    const isKnown = () => queries.getQueryState(CURRENT_USER)?.status === 'success'
    // Without the condition, the failure of this very call would start the call again.
    const stops = [onSessionEnd(() => isKnown() && readAgain()), onOtherTab(readAgain)]
    return () => {
      for (const stop of stops) stop()
    }
  }, [queries])

  const known = current.data
  const session = useMemo<Session | null>(
    () =>
      known === undefined
        ? null
        : {
            user: known.user,
            can: (permission) => known.user.permissions.includes(permission) || known.scoped.includes(permission),
            canEverywhere: (permission) => known.user.permissions.includes(permission),
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
    [known, queries],
  )
  if (current.error instanceof AuthenticationError) {
    const onDone = async () => {
      tellOtherTabs()
      // Otherwise the failure of the login before would still be shown.
      if (window.location.pathname === LOGIN_PATH) window.history.replaceState(null, '', wantedPath(window.location))
      await current.refetch()
    }
    return (
      <>
        <Silence />
        <Login wasLoggedIn={known !== undefined} onDone={onDone} />
      </>
    )
  }
  // An account that is not active any more is refused even its own record.
  if (session === null || current.error instanceof PermissionError)
    return <Starting error={current.error} onRetry={() => current.refetch()} />
  return <SessionProvider session={session}>{children}</SessionProvider>
}

const rightsOf = ({ permissions, role_bindings }: User) => JSON.stringify([permissions, role_bindings])

/** The record of a user has the permissions without a scope alone, so the server is asked for the others. */
async function scopedPermissions(user: User): Promise<string[]> {
  const asked = askedOf(user)
  const rights = await Promise.all(asked.map((permission) => client.call('askRight', { query: { permission } })))
  return asked.filter((_, index) => rights[index]?.allowed)
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
    <>
      <Silence />
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
    </>
  )
}
