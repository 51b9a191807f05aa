import { Anchor, Fieldset, SegmentedControl, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import type { Counting } from './counting.ts'
import type { ChangeForm, Form } from './form.ts'
import { TagRows } from './tag-rows.tsx'
import { TargetCount } from './target-count.tsx'
import { TargetSelect } from './target-select.tsx'

interface Props {
  form: Form
  onChange: ChangeForm
  counting: Counting
}

/** Where the source is deployed: named targets, or all targets with tags. */
export function TargetFields({ form, onChange, counting }: Props) {
  const one = useRead('listTargets', { query: { limit: 1 } })
  return (
    <Fieldset legend="Targets">
      <Stack>
        <SegmentedControl
          aria-label="How targets are selected"
          w="fit-content"
          value={form.targetsBy}
          onChange={(by) => onChange({ targetsBy: by as Form['targetsBy'] })}
          data={[
            { value: 'ids', label: 'By name' },
            { value: 'tags', label: 'By tags' },
          ]}
        />
        {form.targetsBy === 'ids' ? (
          <TargetSelect value={form.targetIds} onChange={(targetIds) => onChange({ targetIds })} />
        ) : (
          <TagRows form={form} onChange={onChange} />
        )}
        {one.data?.meta.total === 0 && (
          <Text size="sm">
            There is no target yet.{' '}
            <Anchor component={Link} to="/targets" search={{ new: 'first' } as never} size="sm">
              Create the first target
            </Anchor>
          </Text>
        )}
        <TargetCount counting={counting} />
      </Stack>
    </Fieldset>
  )
}
