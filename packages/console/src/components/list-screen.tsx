import { Button, Group, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useSession } from '../session/session.tsx'
import { ALLOWED, type Right } from '../session/use-right.ts'
import { type Column, DataTable, type Details } from './data-table.tsx'
import { DeniedButton } from './denied-button.tsx'
import { Empty, Page } from './page.tsx'
import { RecordList, type RecordPage } from './record-list.tsx'
import { SearchInput } from './search-input.tsx'
import { useAddress } from './use-address.ts'

interface Bulk<T> {
  nameOf: (record: T) => string
  /** The buttons. `onDone` takes the records out of the selection. */
  acts: (chosen: readonly T[], onDone: () => void) => ReactNode
}

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
  /** The buttons at the end of a row. `open` shows the form of the record. */
  actions?: ((record: T, open: () => void) => ReactNode) | undefined
  /** In pixels, of these buttons. */
  actionsWidth?: number
  /** What can be done with several records of a page. */
  bulk?: Bulk<T> | undefined
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
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
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
            {props.bulk && <Chosen records={records} ids={chosen} onChange={setChosen} bulk={props.bulk} />}
            <DataTable<T>
              name={title}
              rows={records}
              columns={props.columns}
              sorting={{ value: search['sort'], onChange: (sort) => change({ sort }) }}
              selection={props.bulk && { ids: chosen, onChange: setChosen, nameOf: props.bulk.nameOf }}
              actionsWidth={props.actionsWidth}
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

interface ChosenProps<T> {
  records: readonly T[]
  ids: ReadonlySet<string>
  onChange: (ids: ReadonlySet<string>) => void
  bulk: Bulk<T>
}

/** How many records of the page are chosen, and what can be done with them. Those of other pages are left out. */
function Chosen<T extends { id: string }>({ records, ids, onChange, bulk }: ChosenProps<T>) {
  const chosen = records.filter(({ id }) => ids.has(id))
  const clear = () => onChange(new Set())
  return (
    // Hidden, not absent: a dialog of an act stays when its records leave a filtered list.
    <Group gap="xs" role="toolbar" aria-label="With the selected ones" hidden={chosen.length === 0}>
      <Text size="sm" fw={600} role="status">
        {chosen.length.toLocaleString()} of {records.length.toLocaleString()} on this page selected
      </Text>
      {bulk.acts(chosen, clear)}
      <Button size="compact-sm" variant="subtle" onClick={clear}>
        Clear selection
      </Button>
    </Group>
  )
}
