import { ActionIcon, Group, Table, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'

export interface Column<T> {
  head: string
  cell: (row: T) => ReactNode
  /** In pixels. */
  width?: number
  /** In pixels. Longer texts break. */
  maxWidth?: number
}

/** What a row shows below it when it is opened. */
export interface Details<T> {
  label: (row: T) => string
  content: (row: T) => ReactNode
}

interface RowProps<T> {
  columns: readonly Column<T>[]
  /** The buttons at the end of a row. */
  actions?: ((row: T) => ReactNode) | undefined
  details?: Details<T> | undefined
}

interface Props<T> extends RowProps<T> {
  rows: readonly T[]
  /** In pixels. A narrower window scrolls the table. */
  minWidth: number
  /** For screen readers, where the title of the screen or section does not say what the rows are. */
  label?: string
}

/** A table of records with names of columns, buttons and details. */
export function DataTable<T extends { id: string }>({ rows, minWidth, label, ...shown }: Props<T>) {
  const { columns, actions, details } = shown
  return (
    <Table.ScrollContainer minWidth={minWidth}>
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {details && <HiddenHead>Details</HiddenHead>}
            {columns.map(({ head, width }) => (
              <Table.Th key={head} w={width}>
                {head}
              </Table.Th>
            ))}
            {actions && <HiddenHead>Actions</HiddenHead>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} {...shown} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function HiddenHead({ children }: { children: string }) {
  return (
    <Table.Th w={40}>
      <VisuallyHidden>{children}</VisuallyHidden>
    </Table.Th>
  )
}

function Row<T extends { id: string }>({ row, columns, actions, details }: RowProps<T> & { row: T }) {
  const [isOpen, { toggle }] = useDisclosure(false)
  const detailsId = `details-${row.id}`
  return (
    <>
      <Table.Tr>
        {details && (
          <Table.Td>
            <ActionIcon
              variant="subtle"
              size="sm"
              onClick={toggle}
              aria-expanded={isOpen}
              aria-controls={detailsId}
              aria-label={details.label(row)}
            >
              {isOpen ? '▾' : '▸'}
            </ActionIcon>
          </Table.Td>
        )}
        {columns.map(({ head, cell, maxWidth }) => (
          <Table.Td key={head} {...(maxWidth === undefined ? {} : { maw: maxWidth, style: BREAKS })}>
            {cell(row)}
          </Table.Td>
        ))}
        {actions && (
          <Table.Td>
            <Group gap={4} wrap="nowrap" justify="flex-end">
              {actions(row)}
            </Group>
          </Table.Td>
        )}
      </Table.Tr>
      {details && isOpen && (
        <Table.Tr id={detailsId}>
          <Table.Td colSpan={columns.length + (actions ? 2 : 1)}>{details.content(row)}</Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

const BREAKS = { overflowWrap: 'anywhere' } as const
