import { Fieldset, Input, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useSession } from '../../session/session.tsx'
import { KINDS, type Kind, OPERATIONS } from '../sources/kinds.ts'
import type { ChangeForm, Form } from './form.ts'
import { RecordSelect } from './record-select.tsx'

interface Props {
  form: Form
  onChange: ChangeForm
  /** What the requirement resolves to, as far as it is known. */
  resolved: string | undefined
}

const CAPITALIZED: Record<Kind, string> = { solution: 'Solution', sequence: 'Sequence', action: 'Action' }

/** What is deployed, and in which version. */
export function SourceFields({ form, onChange, resolved }: Props) {
  const { can } = useSession()
  const { kind, sourceId, version } = form
  const choose = (changes: Partial<Form>) => onChange({ ...changes, version: '', values: {} })
  return (
    <Fieldset legend="Source">
      <Stack>
        <Input.Wrapper label="Kind" labelElement="div">
          <SegmentedControl
            aria-label="Kind of source"
            display="flex"
            w="fit-content"
            value={kind}
            onChange={(chosen) => choose({ kind: chosen as Kind, sourceId: null })}
            data={KINDS.filter((one) => can(`${one}s:read`)).map((one) => ({ value: one, label: CAPITALIZED[one] }))}
          />
        </Input.Wrapper>
        <RecordSelect
          key={kind}
          label={CAPITALIZED[kind]}
          required
          list={OPERATIONS[kind].list}
          get={OPERATIONS[kind].get}
          value={sourceId}
          onChange={(id) => choose({ sourceId: id })}
        />
        <TextInput
          label="Version requirement"
          description={
            resolved === undefined
              ? 'A version or a range as npm writes it, for example ^1.2.0. Empty: the newest that is not a prerelease'
              : `Resolves to ${resolved}. A version or a range such as ^1.2.0; empty: the newest`
          }
          placeholder="newest"
          value={version}
          onChange={(event) => onChange({ version: event.currentTarget.value })}
        />
      </Stack>
    </Fieldset>
  )
}
