import type { ReactNode } from 'react'
import { Loaded } from './loaded.tsx'
import { Pager } from './pager.tsx'

export interface RecordPage<T> {
  data: T[]
  meta: { page: number; limit: number; total: number }
}

interface Props<T> {
  read: { data: RecordPage<T> | undefined; error: Error | null }
  /** Stands where there are no records. */
  empty: ReactNode
  onPage: (page: number) => void
  children: (records: T[]) => ReactNode
}

/** A page of records, with the way to the other pages. */
export function RecordList<T>({ read, empty, onPage, children }: Props<T>) {
  return (
    <Loaded read={read}>
      {({ data, meta }) =>
        data.length === 0 ? (
          empty
        ) : (
          <>
            {children(data)}
            <Pager meta={meta} onPage={onPage} />
          </>
        )
      }
    </Loaded>
  )
}
