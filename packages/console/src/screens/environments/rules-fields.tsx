import { Button, Checkbox, Fieldset, Group, NumberInput, Select, SimpleGrid, Stack, Switch } from '@mantine/core'
import { useRead } from '../../api/queries.ts'
import { FieldsetProblem } from '../../components/fieldset-problem.tsx'
import { RecordSelect } from '../../components/record-select.tsx'
import { useSession } from '../../session/session.tsx'
import { freezeTimeFields } from '../freezes/freeze-time-fields.tsx'
import { NEW_APPROVALS, NEW_PROMOTION, newWindow, type RulesDraft } from './rules-draft.ts'

interface Props {
  value: RulesDraft
  onChange: (rules: RulesDraft) => void
  /** What the server says is wrong. */
  error: string | undefined
}

/** What deployments to the environment need before they start: approvals, windows, and the environment before. */
export function RulesFields({ value, onChange, error }: Props) {
  const set = (changed: Partial<RulesDraft>) => onChange({ ...value, ...changed })
  return (
    <Fieldset legend="Rules for deployments">
      <Stack gap="sm">
        <Approvals value={value.approvals} onChange={(approvals) => set({ approvals })} />
        <Windows value={value.windows} onChange={(windows) => set({ windows })} />
        <Promotion value={value.promotion} onChange={(promotion) => set({ promotion })} />
        <FieldsetProblem text={error} />
      </Stack>
    </Fieldset>
  )
}

interface PartProps<K extends keyof RulesDraft> {
  value: RulesDraft[K]
  onChange: (part: RulesDraft[K]) => void
}

const MAX_ROLES = 100

function Approvals({ value, onChange }: PartProps<'approvals'>) {
  const { can } = useSession()
  const enabled = value !== null && can('roles:read')
  const roles = useRead('listRoles', { query: { limit: MAX_ROLES } }, { enabled })
  const names = new Set([...(roles.data?.data ?? []).map(({ name }) => name), ...(value?.role ? [value.role] : [])])
  return (
    <>
      <Switch
        label="Deployments need approvals"
        checked={value !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? NEW_APPROVALS : null)}
      />
      {value !== null && (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NumberInput
            label="Approvals"
            description="How many users must approve, 1 to 5"
            required
            min={1}
            max={5}
            allowDecimal={false}
            value={value.count}
            onChange={(count) => onChange({ ...value, count })}
          />
          <Select
            label="Role of the approvers"
            description="Empty: every user who may approve deployments"
            placeholder="Any role"
            searchable
            clearable
            clearButtonProps={{ 'aria-label': 'Any role' }}
            data={[...names]}
            value={value.role}
            onChange={(role) => onChange({ ...value, role })}
          />
          <NumberInput
            label="Hours until a request ends without them"
            description="Up to 720"
            required
            min={1 / 60}
            max={720}
            value={value.hours}
            onChange={(hours) => onChange({ ...value, hours })}
          />
          <Checkbox
            label="The author of a request may approve it"
            checked={value.allowAuthor}
            onChange={(event) => onChange({ ...value, allowAuthor: event.currentTarget.checked })}
          />
        </SimpleGrid>
      )}
    </>
  )
}

const MAX_WINDOWS = 20

function Windows({ value, onChange }: PartProps<'windows'>) {
  const nextRow = Math.max(-1, ...value.map(({ row }) => row)) + 1
  return (
    <>
      <Switch
        label="Deployments start only in windows"
        checked={value.length > 0}
        onChange={(event) => onChange(event.currentTarget.checked ? [newWindow(nextRow, new Date())] : [])}
      />
      {value.map((window, index) => (
        <Fieldset key={window.row} legend={`Window ${index + 1}`}>
          <Stack gap="sm">
            {freezeTimeFields({
              times: window,
              change: (changed) =>
                onChange(value.map((one) => (one.row === window.row ? { ...one, ...changed } : one))),
            })}
            <Group>
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => onChange(value.filter(({ row }) => row !== window.row))}
              >
                Remove window {index + 1}
              </Button>
            </Group>
          </Stack>
        </Fieldset>
      ))}
      {value.length > 0 && value.length < MAX_WINDOWS && (
        <Group>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => onChange([...value, newWindow(nextRow, new Date())])}
          >
            Add a window
          </Button>
        </Group>
      )}
    </>
  )
}

function Promotion({ value, onChange }: PartProps<'promotion'>) {
  return (
    <>
      <Switch
        label="Versions must be in force in another environment before"
        checked={value !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? NEW_PROMOTION : null)}
      />
      {value !== null && (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <RecordSelect
            kind="environment"
            label="Environment before"
            description="On all its targets with the source, without drift"
            required
            value={value.from}
            onChange={(from) => onChange({ ...value, from })}
          />
          <NumberInput
            label="Hours in that environment"
            description="0: no time"
            required
            min={0}
            max={8_760}
            allowDecimal={false}
            value={value.hours}
            onChange={(hours) => onChange({ ...value, hours })}
          />
        </SimpleGrid>
      )}
    </>
  )
}
