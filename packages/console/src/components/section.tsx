import { Button, Group, Paper, Stack, Table, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  action?: ReactNode
  children: ReactNode
}

/** A part of a screen. */
export function Section({ title, action, children }: Props) {
  return (
    <Paper component="section" aria-label={title} withBorder p="md">
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {title}
          </Title>
          {action}
        </Group>
        {children}
      </Stack>
    </Paper>
  )
}

/** Opens the form for a new record of a section. */
export function NewButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button size="xs" onClick={onClick}>
      {label}
    </Button>
  )
}

/** Names and values. */
export function Facts({ facts }: { facts: [string, ReactNode][] }) {
  return (
    <Table layout="fixed" highlightOnHover={false} withRowBorders={false} verticalSpacing={2}>
      <Table.Tbody>
        {facts.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" w={140} style={{ verticalAlign: 'top' }}>
              {name}
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
