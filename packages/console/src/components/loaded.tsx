import { Skeleton, Stack } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import { useServerState } from '../api/connection.ts'
import { isToldAlready } from '../api/server-news.ts'
import { ErrorAlert } from './error-alert.tsx'

interface Reading<T> {
  data: T | undefined
  error: Error | null
  /** When the last error was; 0 if there was none yet. */
  errorUpdatedAt?: number
}

/** Shows what was read; until then a placeholder, or the error. An error of a later read stands above what is known. */
export function Loaded<T>({ read, children }: { read: Reading<T>; children: (data: T) => ReactNode }) {
  const error = useLastError(read)
  const server = useServerState()
  const isShown = error !== null && !isToldAlready({ ...read, error }, server)
  return (
    <>
      {isShown && <ErrorAlert error={error} />}
      {read.data !== undefined && children(read.data)}
      {read.data === undefined && !isShown && <Loading />}
    </>
  )
}

/** Stands where something is not known yet. */
export function Loading() {
  return (
    <Stack gap="xs" aria-busy="true" aria-label="Loading">
      {['a', 'b', 'c'].map((key) => (
        <Skeleton key={key} h={28} />
      ))}
    </Stack>
  )
}

/** Without data, a read forgets its error as soon as it tries again. The alert would come and go. */
function useLastError({ data, error, errorUpdatedAt = 0 }: Reading<unknown>): Error | null {
  const last = useRef<Error | null>(null)
  if (error !== null) last.current = error
  else if (data !== undefined || errorUpdatedAt === 0) last.current = null
  return last.current
}
