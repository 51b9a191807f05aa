import { Chip, Group } from '@mantine/core'
import type { LogColumn } from './log-columns.ts'

const LABELS: Record<LogColumn, string> = { time: 'Time', seconds: 'Seconds', step: 'Step' }
const WRAP = 'wrap'

interface Props {
  isWrapped: boolean
  onWrap: (isWrapped: boolean) => void
  columns: readonly LogColumn[]
  onColumns: (columns: LogColumn[]) => void
}

/** How the lines look: wrapped, and with which columns. */
export function LogLooks({ isWrapped, onWrap, columns, onColumns }: Props) {
  const all = Object.keys(LABELS) as LogColumn[]
  return (
    <Group gap={4}>
      <Chip size="xs" radius="sm" checked={isWrapped} onChange={onWrap} value={WRAP}>
        Wrap
      </Chip>
      {all.map((column) => (
        <Chip
          key={column}
          size="xs"
          radius="sm"
          checked={columns.includes(column)}
          onChange={(isOn) => onColumns(all.filter((one) => (one === column ? isOn : columns.includes(one))))}
        >
          {LABELS[column]}
        </Chip>
      ))}
    </Group>
  )
}
