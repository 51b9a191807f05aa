import { Select, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { PERMISSION_ROWS } from '../../components/permissions.ts'
import { RecordSelect } from '../../components/record-select.tsx'
import { CAPITALIZED, KINDS, type Kind } from '../../components/source-kinds.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { questionOf } from '../../session/right-question.ts'

type Permission = (typeof PERMISSION_ROWS)[number]['permissions'][number]

const ALL = PERMISSION_ROWS.flatMap(({ permissions, special }) => [...permissions, ...special])

/** A question to the server about one right of the user. */
export function MayI() {
  const [permission, setPermission] = useState<Permission>('deployments:create')
  const [environment_id, setEnvironment] = useState<string | null>(null)
  const [kind, setKind] = useState<Kind>('solution')
  const [id, setId] = useState<string | null>(null)
  const source = id === null ? null : { type: kind, id }
  const query = questionOf(permission, { kind: 'deployment', environment_id, source })
  const { data, error } = useRead('askRight', { query }, { keep: true })
  return (
    <Stack gap="xs" component="section" aria-label="May I…?">
      <Title order={3} size="h6">
        May I…?
      </Title>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label="Permission"
          searchable
          allowDeselect={false}
          data={ALL}
          value={permission}
          onChange={(chosen) => chosen !== null && setPermission(chosen)}
        />
        <RecordSelect
          kind="environment"
          label="Environment"
          placeholder="Any environment"
          value={environment_id}
          onChange={setEnvironment}
        />
        <Select
          label="Kind of source"
          allowDeselect={false}
          data={KINDS.map((one) => ({ value: one, label: CAPITALIZED[one] }))}
          value={kind}
          onChange={(chosen) => {
            if (chosen === null) return
            setKind(chosen)
            setId(null)
          }}
        />
        <RecordSelect
          key={kind}
          kind={kind}
          label={CAPITALIZED[kind]}
          placeholder={`Any ${kind}`}
          value={id}
          onChange={setId}
        />
      </SimpleGrid>
      <Text size="sm" role="status">
        {error?.message}
        {error === null && data && (
          <>
            <StateBadge state={data.allowed ? 'success' : 'failed'} label={data.allowed ? 'yes' : 'no'} />{' '}
            {data.because}
          </>
        )}
      </Text>
    </Stack>
  )
}
