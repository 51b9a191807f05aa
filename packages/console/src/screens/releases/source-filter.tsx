import { Select } from '@mantine/core'
import { RecordSelect } from '../../components/record-select.tsx'
import { KINDS, type Kind, parseKind } from '../../components/source-kinds.ts'
import type { Search } from '../../components/use-address.ts'

/** As the API names them. */
export const SOURCE_FILTERS = ['source_type', 'solution_id', 'sequence_id', 'action_id'] as const

interface Props {
  search: Search
  onChange: (changed: Search) => void
}

/** Chooses a kind of source, and a source of this kind. */
export function SourceFilter({ search, onChange }: Props) {
  const { kind, id } = chosenSource(search)
  const choose = (chosen: Kind | undefined, chosenId?: string) =>
    onChange({
      ...Object.fromEntries(KINDS.map((one) => [`${one}_id`, one === chosen ? chosenId : undefined])),
      source_type: chosen,
      version: undefined,
    })
  return (
    <>
      <KindFilter value={kind} onChange={choose} />
      {kind !== undefined && (
        <RecordSelect
          key={kind}
          kind={kind}
          label="Source"
          placeholder="Any source"
          value={id ?? null}
          onChange={(chosenId) => choose(kind, chosenId ?? undefined)}
        />
      )}
    </>
  )
}

interface KindProps {
  value: Kind | undefined
  onChange: (kind: Kind | undefined) => void
}

export function KindFilter({ value, onChange }: KindProps) {
  return (
    <Select
      label="Source type"
      placeholder="Any"
      clearable
      clearButtonProps={{ 'aria-label': 'Any source type' }}
      data={KINDS}
      value={value ?? null}
      onChange={(kind) => onChange(parseKind(kind ?? undefined) ?? undefined)}
    />
  )
}

/** The source that the filters of an address name, or only its kind. */
export function chosenSource(search: Search): { kind: Kind | undefined; id: string | undefined } {
  const named = KINDS.find((kind) => search[`${kind}_id`])
  if (named === undefined) return { kind: parseKind(search['source_type']) ?? undefined, id: undefined }
  return { kind: named, id: search[`${named}_id`] }
}
