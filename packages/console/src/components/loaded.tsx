import { Skeleton, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { ErrorAlert } from './error-alert.tsx'

interface Reading<T> {
  data: T | undefined
  error: Error | null
}

/** Shows what was read; until then a placeholder, or the error. An error of a later read stands above what is known. */
export function Loaded<T>({ read, children }: { read: Reading<T>; children: (data: T) => ReactNode }) {
  return (
    <>
      {read.error && <ErrorAlert error={read.error} />}
      {read.data !== undefined && children(read.data)}
      {read.data === undefined && !read.error && (
        <Stack gap="xs" aria-busy="true" aria-label="Loading">
          {['a', 'b', 'c'].map((key) => (
            <Skeleton key={key} h={28} />
          ))}
        </Stack>
      )}
    </>
  )
}
