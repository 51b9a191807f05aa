import { Code, CopyButton, Group, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { focusTitle } from './arrival.ts'
import { setPageTitle } from './page-title.ts'

/** The frame of every screen: its title, what can be done, and the command line that does the same. */
export function Page(props: { title: string; actions?: ReactNode; command?: string | undefined; children: ReactNode }) {
  const { title, actions, command, children } = props
  useEffect(() => setPageTitle(title), [title])
  useEffect(focusTitle, [])
  return (
    <Stack gap="md">
      <Group justify="space-between" align="center">
        <Title order={1} size="h3" tabIndex={-1}>
          {title}
        </Title>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
      {command && <CommandLine command={command} />}
    </Stack>
  )
}

/** The command that shows or does the same as the screen; a click copies it. */
export function CommandLine({ command }: { command: string }) {
  return (
    <CopyButton value={command}>
      {({ copied, copy }) => (
        <UnstyledButton onClick={copy}>
          <Code>{command}</Code>
          <Text span size="xs" ml="xs" c="dimmed">
            {copied ? 'copied' : 'copy'}
          </Text>
        </UnstyledButton>
      )}
    </CopyButton>
  )
}

/** What stands where there is nothing yet: what this place is for, and what to do first. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap={4} py="xl" ta="center">
      <Text fw={600}>{title}</Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </Stack>
  )
}
