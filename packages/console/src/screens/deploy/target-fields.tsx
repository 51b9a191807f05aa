import { Anchor, Fieldset, Group, Radio, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { RecordName } from '../../components/record-select.tsx'
import type { ChangeForm, Form } from './form.ts'
import type { PlannedForm } from './planned-form.ts'
import { TagRows } from './tag-rows.tsx'
import { TargetCount } from './target-count.tsx'
import { TargetSelect } from './target-select.tsx'

interface Props {
  form: Form
  planned: PlannedForm
  onChange: ChangeForm
}

/** Which targets: all of the environment, those with tags, or named ones. */
export function TargetFields({ form, planned, onChange }: Props) {
  const { environmentId, targetsBy } = form
  const one = useRead('listTargets', { query: { limit: 1 } })
  return (
    <Fieldset legend="Targets">
      <Stack>
        <Radio.Group
          aria-label="How targets are selected"
          value={targetsBy}
          onChange={(by) => onChange({ targetsBy: by as Form['targetsBy'] })}
        >
          <Group style={{ overflowWrap: 'anywhere' }}>
            {environmentId !== null && (
              <Radio value="environment" label={<AllOf id={environmentId} total={planned.environmentTotal} />} />
            )}
            <Radio value="tags" label="By tags" />
            <Radio value="ids" label="By name" />
          </Group>
        </Radio.Group>
        {targetsBy === 'ids' && (
          <TargetSelect
            environmentId={environmentId}
            value={form.targetIds}
            onChange={(targetIds) => onChange({ targetIds })}
          />
        )}
        {targetsBy === 'tags' && <TagRows form={form} onChange={onChange} />}
        {one.data?.meta.total === 0 && (
          <Text size="sm">
            There is no target yet.{' '}
            <Anchor component={Link} to="/targets" search={{ new: 'first' } as never} size="sm">
              Create the first target
            </Anchor>
          </Text>
        )}
        {targetsBy === 'environment' && planned.environmentTotal === 0 && one.data?.meta.total !== 0 && (
          <Text size="sm">
            This environment has no enabled target.{' '}
            <Anchor component={Link} to="/targets" search={{ environment_id: environmentId } as never} size="sm">
              Show its targets
            </Anchor>
          </Text>
        )}
        <TargetCount counting={planned.counting} />
      </Stack>
    </Fieldset>
  )
}

/** "All of staging (3)". */
function AllOf({ id, total }: { id: string; total: number | undefined }) {
  return (
    <>
      All of <RecordName kind="environment" id={id} />
      {total === undefined ? '' : ` (${total.toLocaleString()})`}
    </>
  )
}
