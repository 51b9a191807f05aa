import { Anchor, Group, Paper, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface Props {
  title: string
  /** Beside the title, such as how many there are. */
  note?: ReactNode
  /** Where there is more. */
  more?: { label: string; to: string; search?: Record<string, string> }
  children: ReactNode
}

/** A part of the screen with its title, and a link to the screen that shows more. */
export function Section({ title, note, more, children }: Props) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Group justify="space-between" mb={6} gap="xs">
        <Group gap="xs" align="baseline">
          <Title order={2} size="h5">
            {title}
          </Title>
          {note !== undefined && (
            <Text size="sm" component="div">
              {note}
            </Text>
          )}
        </Group>
        {more && (
          <Anchor component={Link} to={more.to} search={(more.search ?? {}) as never} size="sm">
            {more.label}
          </Anchor>
        )}
      </Group>
      {children}
    </Paper>
  )
}
