import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useSession } from '../../session/session.tsx'
import { SearchInput } from './search-input.tsx'
import { useAddress } from './use-address.ts'

interface Records<T> {
  data: T[]
  meta: { page: number; limit: number; total: number }
}

interface Props<T> {
  title: string
  command: string
  /** One record, such as "tenant". */
  record: string
  /** What a record is for, where there is none yet. */
  purpose: string
  /** The permission to create one. */
  permission: string
  read: { data: Records<T> | undefined; error: Error | null }
  form: (onClose: () => void) => ReactNode
  children: (records: T[]) => ReactNode
}

/** A list of records with names: search, pages, and a form for a new one. Search and page are in the address. */
export function RecordsPage<T>({ title, command, record, purpose, permission, read, form, children }: Props<T>) {
  const { search, change, toPage } = useAddress()
  const { can } = useSession()
  const [isCreating, setCreating] = useState(false)
  const text = search['search'] ?? ''
  const create = (
    <Button size="xs" onClick={() => setCreating(true)}>
      New {record}
    </Button>
  )
  return (
    <Page title={title} command={command} actions={can(permission) && create}>
      <SearchInput
        label="Search"
        placeholder="Part of the name"
        maw={320}
        value={text}
        onChange={(wanted) => change({ search: wanted })}
      />
      <Loaded read={read}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={text ? `No ${record} has such a name` : `There is no ${record} yet`}>
              {text ? 'Search for another part of the name.' : purpose}
            </Empty>
          ) : (
            <>
              {children(data)}
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
      {isCreating && form(() => setCreating(false))}
    </Page>
  )
}
