import { Group, Pagination, Text } from '@mantine/core'

interface Meta {
  page: number
  limit: number
  total: number
}

/** Pages of a list, and how many records there are in all. */
export function Pager({ meta, onPage }: { meta: Meta; onPage: (page: number) => void }) {
  const pages = Math.max(1, Math.ceil(meta.total / meta.limit))
  return (
    <Group justify="space-between">
      <Text size="sm">{meta.total.toLocaleString()} in all</Text>
      {pages > 1 && (
        <Pagination
          total={pages}
          value={meta.page}
          onChange={onPage}
          size="sm"
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
        />
      )}
    </Group>
  )
}
