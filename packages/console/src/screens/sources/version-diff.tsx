import { Code, Group, Select, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useRead } from '../../api/queries.ts'
import { counted } from '../../components/counted.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { type Kind, OPERATIONS } from '../../components/source-kinds.ts'
import { definitionLines } from './definition-text.ts'
import { foldUnchanged } from './fold-unchanged.ts'
import { type DiffLine, diffLines } from './line-diff.ts'

interface Props {
  kind: Kind
  id: string
  versions: string[]
  before: string
  after: string
  onChange: (versions: { before?: string; after?: string }) => void
}

/** What differs between two versions, line by line. */
export function VersionDiff({ kind, id, versions, before, after, onChange }: Props) {
  const older = useRead(OPERATIONS[kind].getVersion, { params: { id, version: before } }, { keep: true })
  const newer = useRead(OPERATIONS[kind].getVersion, { params: { id, version: after } }, { keep: true })
  return (
    <Stack gap="sm">
      <Group align="end">
        <Select
          label="From version"
          data={versions}
          value={before}
          allowDeselect={false}
          searchable
          onChange={(version) => version && onChange({ before: version })}
        />
        <Select
          label="To version"
          data={versions}
          value={after}
          allowDeselect={false}
          searchable
          onChange={(version) => version && onChange({ after: version })}
        />
      </Group>
      <Loaded read={older}>
        {(from) => <Loaded read={newer}>{(to) => <DiffView before={from.definition} after={to.definition} />}</Loaded>}
      </Loaded>
    </Stack>
  )
}

const SIGNS: Record<DiffLine['change'], string> = { same: ' ', removed: '-', added: '+' }
const BACKGROUNDS: Record<DiffLine['change'], string | undefined> = {
  same: undefined,
  removed: 'light-dark(var(--mantine-color-red-1), #5c1a1a)',
  added: 'light-dark(var(--mantine-color-green-1), #1a4426)',
}

/** The lines that differ between two definitions. */
export function DiffView({ before, after }: { before: unknown; after: unknown }) {
  const lines = useMemo(() => diffLines(definitionLines(before), definitionLines(after)), [before, after])
  const count = (change: DiffLine['change']) => lines.filter((line) => line.change === change).length
  if (count('same') === lines.length) return <Empty title="These versions have the same definition" />
  return (
    <>
      <Text size="sm">
        {counted(count('added'), 'line')} added, {count('removed')} removed
      </Text>
      <Code block tabIndex={0} role="region" aria-label="Differences" style={{ maxHeight: '70vh', fontSize: 13 }}>
        {foldUnchanged(lines).map((part, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of two published versions never change
            key={index}
            style={{
              display: 'block',
              minHeight: '1lh',
              background: 'hidden' in part ? undefined : BACKGROUNDS[part.change],
            }}
          >
            {'hidden' in part
              ? `    … ${part.hidden} lines without a difference`
              : `${SIGNS[part.change]} ${part.text}`}
          </span>
        ))}
      </Code>
    </>
  )
}
