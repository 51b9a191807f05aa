import type { Answer } from '@slipway/client'
import { createContext, Fragment, type ReactNode, useContext } from 'react'

export type User = Answer<'getCurrentUser'>

export interface Session {
  user: User
  /** Whether a role of the user gives this permission, be it only in a scope. The server decides again at each call. */
  can(permission: string): boolean
  /** Whether the user has the permission without a scope. */
  canEverywhere(permission: string): boolean
  /** Ends all sessions of the user, on every device. */
  logout(): Promise<void>
}

const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('useSession needs a SessionProvider above it')
  return session
}

interface Props {
  session: Session
  children: ReactNode
}

export function SessionProvider({ session, children }: Props) {
  return (
    <SessionContext.Provider value={session}>
      {/* Nothing that one user has typed stays for the next one. */}
      <Fragment key={session.user.id}>{children}</Fragment>
    </SessionContext.Provider>
  )
}
