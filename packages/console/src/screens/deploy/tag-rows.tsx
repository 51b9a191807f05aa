import { Group, Radio, Stack } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { useSession } from '../../session/session.tsx'
import type { ChangeForm, Form } from './form.ts'
import { PairRows } from './pair-rows.tsx'

const LIMIT = 100

/** Selects targets by their tags. */
export function TagRows({ form, onChange }: { form: Form; onChange: ChangeForm }) {
  const { can } = useSession()
  const known = useRead('listTags', { query: { limit: LIMIT } }, { enabled: can('tags:read') })
  const tags = known.data?.data ?? []
  return (
    <Stack gap="sm">
      <PairRows
        rows={form.tags}
        onChange={(rows) => onChange({ tags: rows })}
        keyLabel="Tag key"
        valueLabel="Tag value"
        addLabel="Add a tag"
        knownKeys={[...new Set(tags.map(({ key }) => key))]}
        knownValues={(chosenKey) => [...new Set(tags.filter(({ key }) => key === chosenKey).map(({ value }) => value))]}
      />
      <Radio.Group
        label="A target must have"
        value={form.matchAll ? 'all' : 'any'}
        onChange={(match) => onChange({ matchAll: match === 'all' })}
      >
        <Group mt={4}>
          <Radio value="any" label="any of these tags" />
          <Radio value="all" label="all of these tags" />
        </Group>
      </Radio.Group>
    </Stack>
  )
}
