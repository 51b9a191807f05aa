import { Badge, Group } from '@mantine/core'
import { labelText } from './label-text.ts'

export function Labels({ labels }: { labels: Record<string, string | null> }) {
  const entries = Object.entries(labels)
  if (entries.length === 0) return '–'
  return (
    <Group gap={4}>
      {entries.map((label) => (
        <Badge key={label[0]} variant="default" tt="none" radius="sm">
          {labelText(label)}
        </Badge>
      ))}
    </Group>
  )
}
