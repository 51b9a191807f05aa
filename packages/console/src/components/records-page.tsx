import { Button, Group } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useSession } from '../session/session.tsx'
import { Loaded } from './loaded.tsx'
import { Empty, Page } from './page.tsx'
import { Pager } from './pager.tsx'
import { SearchInput } from './search-input.tsx'
import { useAddress } from './use-address.ts'

interface Records<T> {
  data: T[]
  meta: { page: number; limit: number; total: number }
}

interface Props<T> {
  title: string
  command?: string
  /** One record, such as "tenant". */
  record: string
  /** What the search looks into. */
  searched?: string
  /** Filters beside the search. */
  filters?: ReactNode
  isFiltered?: boolean
  /** What a record is for, where there is none yet. */
  purpose: string
  read: { data: Records<T> | undefined; error: Error | null }
  /** The permission to create a record, and the form; null is a new record. Absent where records make themselves. */
  permission?: string
  form?: (record: T | null, onClose: () => void) => ReactNode
  children: (records: T[], change: (record: T) => void) => ReactNode
  /** Stands below the list. */
  below?: ReactNode
}

/**
 * A list of records: search, pages, and a form for a new or a changed one. Search, page, and whether the form for a new one is
 * open, are in the address.
 */
export function RecordsPage<T>(props: Props<T>) {
  const { title, command, record, searched = 'Part of the name', filters, purpose, permission, read, form } = props
  const { search, change, toPage } = useAddress()
  const { can } = useSession()
  const [changed, setChanged] = useState<T | null>(null)
  const text = search['search'] ?? ''
  const isFiltered = text !== '' || props.isFiltered === true
  const mayCreate = form !== undefined && permission !== undefined && can(permission)
  return (
    <Page
      title={title}
      {...(command === undefined ? {} : { command })}
      actions={
        mayCreate && (
          <Button size="xs" onClick={() => change({ new: 'yes' })}>
            New {record}
          </Button>
        )
      }
    >
      <Group align="flex-end">
        <SearchInput
          label="Search"
          placeholder={searched}
          w={{ base: '100%', xs: 260 }}
          value={text}
          onChange={(wanted) => change({ search: wanted })}
        />
        {filters}
      </Group>
      <Loaded read={read}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={isFiltered ? `No ${record} fits` : `There is no ${record} yet`}>
              {isFiltered ? 'Search for something else, or remove a filter.' : purpose}
            </Empty>
          ) : (
            <>
              {props.children(data, setChanged)}
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
      {props.below}
      {mayCreate && search['new'] !== undefined && form(null, () => change({ new: undefined }))}
      {changed !== null && form?.(changed, () => setChanged(null))}
    </Page>
  )
}
