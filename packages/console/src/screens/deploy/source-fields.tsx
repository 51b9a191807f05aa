import { Anchor, Autocomplete, Button, Fieldset, Input, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { fieldProblem } from '../../components/field-problem.ts'
import { RecordName, RecordSelect } from '../../components/record-select.tsx'
import { CAPITALIZED, KINDS, type Kind } from '../../components/source-kinds.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import { useSourceTotals } from '../sources/totals.ts'
import type { ChangeForm, Form, VersionsOf } from './form.ts'

interface Props {
  form: Form
  onChange: ChangeForm
  /** What the requirement resolves to, as far as it is known. */
  resolved: string | undefined
  /** The versions of the source, newest first. */
  versions: string[]
  /** Why the server refused the request. */
  error: Error | null
}

/** What is deployed, and in which version. */
export function SourceFields({ form, onChange, resolved, versions, error }: Props) {
  const { can } = useSession()
  const { kind, sourceId, version } = form
  const totals = useSourceTotals()
  const problem = fieldProblem(error, '/version_requirement')
  const choose = (changes: Partial<Form>) => onChange({ ...changes, version: '', versionsOf: null, values: {} })
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
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <RecordSelect
            key={kind}
            label={CAPITALIZED[kind]}
            required
            kind={kind}
            value={sourceId}
            onChange={(id) => choose({ sourceId: id })}
          />
          {form.versionsOf === null ? (
            <Autocomplete
              label="Version requirement"
              description={
                resolved === undefined || problem !== undefined
                  ? 'A version or a range as npm writes it, for example ^1.2.0. Empty: the newest that is not a prerelease'
                  : `Resolves to ${resolved}. A version or a range such as ^1.2.0; empty: the newest`
              }
              placeholder="newest"
              data={versions}
              maxDropdownHeight={240}
              value={version}
              onChange={(text) => onChange({ version: text })}
              error={problem}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
            />
          ) : (
            <FixedVersion versionsOf={form.versionsOf} onRelease={() => onChange({ versionsOf: null })} />
          )}
        </SimpleGrid>
        {sourceId !== null && <LastDeployment kind={kind} id={sourceId} />}
        {totals[kind] === 0 && (
          <Text size="sm">
            There is no {kind} yet.{' '}
            <Anchor component={Link} to="/sources" search={{ kind, new: 'yes' } as never} size="sm">
              Create the first {kind}
            </Anchor>
          </Text>
        )}
      </Stack>
    </Fieldset>
  )
}

/** Offers to fill the form as in the last deployment of a source. */
function LastDeployment({ kind, id }: { kind: Kind; id: string }) {
  const { can } = useSession()
  const { from } = useSearch({ strict: false })
  const query = { [`${kind}_id`]: id, limit: 1 }
  const found = useRead('listDeployments', { query }, { enabled: can('deployments:read') })
  const last = found.data?.data[0]
  if (last === undefined || last.id === from) return null
  return (
    <Text size="sm">
      <Anchor component={Link} to="/deploy" search={{ from: last.id } as never} size="sm">
        Fill in everything as in its last deployment
      </Anchor>
      , <TimeAgo at={last.created_at} />
    </Text>
  )
}

/** The versions of an earlier deployment, which take the place of a requirement. */
function FixedVersion({ versionsOf, onRelease }: { versionsOf: VersionsOf; onRelease: () => void }) {
  return (
    <Input.Wrapper label="Version" labelElement="div">
      <Text size="sm">
        {versionsOf.version}, with all its parts as in <RecordName kind="environment" id={versionsOf.environmentId} />
      </Text>
      <Button size="compact-xs" variant="default" mt={4} onClick={onRelease}>
        Choose another version
      </Button>
    </Input.Wrapper>
  )
}
