import { Code, Group, Select, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useRead } from '../../api/queries.ts'
import { counted } from '../../components/counted.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty } from '../../components/page.tsx'
import { type Kind, OPERATIONS } from '../../components/source-kinds.ts'
import { definitionLines } from './definition-text.ts'
import { diffLines } from './line-diff.ts'

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

const BACKGROUNDS: Record<string, string> = {
  '-': 'light-dark(var(--mantine-color-red-1), #5c1a1a)',
  '+': 'light-dark(var(--mantine-color-green-1), #1a4426)',
}

/** The lines that differ between two definitions. */
export function DiffView({ before, after }: { before: unknown; after: unknown }) {
  const parts = useMemo(() => diffLines(definitionLines(before), definitionLines(after)), [before, after])
  const count = (sign: string) => parts.filter((part) => typeof part === 'string' && part.startsWith(sign)).length
  if (parts.length === 0) return <Empty title="These versions have the same definition" />
  return (
    <>
      <Text size="sm">
        {counted(count('+'), 'line')} added, {count('-')} removed
      </Text>
      <Code block tabIndex={0} role="region" aria-label="Differences" style={{ maxHeight: '70vh', fontSize: 13 }}>
        {parts.map((part, index) => {
          const sign = typeof part === 'string' ? part.slice(0, 1) : ''
          return (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of two published versions never change
              key={index}
              style={{ display: 'block', minHeight: '1lh', background: BACKGROUNDS[sign] }}
            >
              {typeof part === 'string'
                ? `${sign} ${part.slice(1)}`
                : `    … ${part.hidden} lines without a difference`}
            </span>
          )
        })}
      </Code>
    </>
  )
}
