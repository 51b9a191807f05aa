import { Button, Group } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useSession } from '../session/session.tsx'
import { ALLOWED, type Right } from '../session/use-right.ts'
import { type Column, DataTable, type Details } from './data-table.tsx'
import { DeniedButton } from './denied-button.tsx'
import { Empty, Page } from './page.tsx'
import { RecordList, type RecordPage } from './record-list.tsx'
import { SearchInput } from './search-input.tsx'
import { useAddress } from './use-address.ts'

interface Props<T> {
  title: string
  command?: string | null
  read: { data: RecordPage<T> | undefined; error: Error | null }
  /** One record, such as "tenant". */
  record: string
  /** What a record is for, where there is none yet. */
  purpose: ReactNode
  /** What the search looks into; null for a list without search. */
  searched?: string | null
  /** Filters beside the search. */
  filters?: ReactNode
  isFiltered?: boolean
  /** Stands where no record fits the filters, in place of the usual text. */
  nothingFits?: ReactNode
  columns: readonly Column<T>[]
  /** In pixels. A narrower window scrolls the table. */
  minWidth: number
  /** The buttons at the end of a row. `open` shows the form of the record. */
  actions?: ((record: T, open: () => void) => ReactNode) | undefined
  details?: Details<T>
  /** Links and buttons beside the title. */
  links?: ReactNode
  /** The permission to create a record, and the form; null is a new record. Absent where records make themselves. */
  permission?: string | undefined
  /** In place of the permission: the button is disabled without the right. */
  createRight?: Right
  form?: (record: T | null, onClose: () => void) => ReactNode
  /** Stands above the filters. */
  top?: ReactNode
  /** Stands above the table, if there are records. */
  above?: (records: T[]) => ReactNode
  /** Stands below the list. */
  below?: ReactNode
}

/**
 * A list of records: search, filters, a table, pages, and a form for a new or a changed record. Search, filters, page, and
 * whether the form for a new record is open, are in the address.
 */
export function ListScreen<T extends { id: string }>(props: Props<T>) {
  const { title, command, record, searched = 'Part of the name', permission, read, form, actions } = props
  const { search, change, toPage } = useAddress()
  const { can } = useSession()
  const [opened, setOpened] = useState<T | null>(null)
  const text = searched === null ? '' : (search['search'] ?? '')
  const isFiltered = text !== '' || props.isFiltered === true
  const { createRight = ALLOWED } = props
  const isCreatable =
    form !== undefined && (props.createRight !== undefined || (permission !== undefined && can(permission)))
  const mayCreate = isCreatable && createRight.allowed
  const nothingFits = props.nothingFits ?? (
    <Empty title={`No ${record} fits`}>Search for something else, or remove a filter.</Empty>
  )
  return (
    <Page
      title={title}
      command={command ?? undefined}
      actions={
        <>
          {props.links}
          {mayCreate && (
            <Button size="xs" onClick={() => change({ new: 'yes' })}>
              New {record}
            </Button>
          )}
          {isCreatable && !mayCreate && (
            <DeniedButton size="xs" because={createRight.because}>
              New {record}
            </DeniedButton>
          )}
        </>
      }
    >
      {props.top}
      <Group align="flex-end">
        {searched !== null && (
          <SearchInput
            label="Search"
            placeholder={searched}
            w={{ base: '100%', xs: 260 }}
            value={text}
            onChange={(typed) => change({ search: typed })}
          />
        )}
        {props.filters}
      </Group>
      <RecordList
        read={read}
        onPage={toPage}
        empty={isFiltered ? nothingFits : <Empty title={`There is no ${record} yet`}>{props.purpose}</Empty>}
      >
        {(records) => (
          <>
            {props.above?.(records)}
            <DataTable<T>
              rows={records}
              minWidth={props.minWidth}
              columns={props.columns}
              actions={actions && ((one) => actions(one, () => setOpened(one)))}
              details={props.details}
            />
          </>
        )}
      </RecordList>
      {props.below}
      {mayCreate && search['new'] !== undefined && form(null, () => change({ new: undefined }))}
      {opened !== null && form?.(opened, () => setOpened(null))}
    </Page>
  )
}
