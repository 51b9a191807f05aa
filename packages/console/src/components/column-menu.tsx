import { ActionIcon, Checkbox, Popover, Stack } from '@mantine/core'

export interface ColumnChoice {
  isShown: (head: string) => boolean
  toggle: (head: string) => void
}

/** Chooses which columns of a table are shown. */
export function ColumnMenu({ heads, isShown, toggle }: ColumnChoice & { heads: readonly string[] }) {
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Choose columns" title="Choose columns">
          ⋮
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label="Columns">
        <Stack gap={6}>
          {heads.map((head) => (
            <Checkbox key={head} size="xs" label={head} checked={isShown(head)} onChange={() => toggle(head)} />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
