import { type Answer, AuthenticationError } from '@slipway/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { client } from '../api/client.ts'
import { Login } from './login.tsx'
import { Starting } from './starting.tsx'

type User = Answer<'getCurrentUser'>

interface Session {
  user: User
  /** Whether the user's roles give this permission. The server decides again at each call. */
  can(permission: string): boolean
  /** Ends all sessions of the user, on every device. */
  logout(): Promise<void>
}

const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession needs a SessionProvider above it')
  return session
}

/** Shows what is inside to a user who is logged in, and the login to everybody else. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const current = useQuery({
    queryKey: ['getCurrentUser'],
    queryFn: () => client.call('getCurrentUser'),
    retry: false,
    staleTime: 60_000,
  })
  const user = current.data
  const session = useMemo<Session | null>(
    () =>
      user === undefined
        ? null
        : {
            user,
            can: (permission) => user.permissions.includes(permission) || user.permissions.includes('*'),
            logout: async () => {
              await client.logout()
              queries.clear()
              window.location.assign('/')
            },
          },
    [user, queries],
  )
  if (current.error instanceof AuthenticationError) return <Login onDone={() => current.refetch()} />
  if (session === null) return <Starting error={current.error} onRetry={() => current.refetch()} />
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
}
