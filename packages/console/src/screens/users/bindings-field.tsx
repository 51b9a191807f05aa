import { Button, Fieldset, Group, Stack, Text } from '@mantine/core'
import { FieldsetProblem } from '../../components/fieldset-problem.tsx'
import { LimitFields } from '../../components/limit-fields.tsx'
import { type BindingDraft, newDraft } from './bindings.ts'
import { OneRoleSelect } from './role-select.tsx'

interface Props {
  value: readonly BindingDraft[]
  onChange: (drafts: BindingDraft[]) => void
  error: string | undefined
}

/** The roles of a user that count only in some environments or for some solutions. */
export function BindingsField({ value, onChange, error }: Props) {
  const change = (row: number, changed: Partial<BindingDraft>) =>
    onChange(value.map((draft) => (draft.row === row ? { ...draft, ...changed } : draft)))
  return (
    <Fieldset legend="Roles in a scope">
      <Stack>
        <Text size="sm">
          Such a role lets its user read everything that it names. It lets them deploy, cancel, approve, and change
          freezes and targets only in the environments and for the solutions that you choose.
        </Text>
        {value.map((draft, index) => (
          <Stack key={draft.row} gap="xs" component="section" aria-label={`Role ${index + 1} in a scope`}>
            <Group align="flex-end">
              <div style={{ flex: 1 }}>
                <OneRoleSelect value={draft.role} onChange={(role) => change(draft.row, { role })} />
              </div>
              <Button
                variant="default"
                aria-label={`Remove role ${index + 1} in a scope`}
                onClick={() => onChange(value.filter(({ row }) => row !== draft.row))}
              >
                Remove
              </Button>
            </Group>
            <LimitFields value={draft} onChange={(changed) => change(draft.row, changed)} />
          </Stack>
        ))}
        <FieldsetProblem text={error} />
        <Group>
          <Button size="xs" variant="default" onClick={() => onChange([...value, newDraft(value)])}>
            Add a role in a scope
          </Button>
        </Group>
      </Stack>
    </Fieldset>
  )
}
