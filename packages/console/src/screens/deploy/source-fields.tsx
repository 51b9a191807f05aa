import { Anchor, Autocomplete, Button, Fieldset, Group, Input, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link, useSearch } from '@tanstack/react-router'
import { useRead } from '../../api/queries.ts'
import { fieldProblem } from '../../components/field-problem.ts'
import { RecordName } from '../../components/record-select.tsx'
import type { Kind } from '../../components/source-kinds.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useSession } from '../../session/session.tsx'
import type { ChangeForm, Form, VersionsOf } from './form.ts'
import type { PlannedForm } from './planned-form.ts'
import { SourceSelect } from './source-select.tsx'

interface Props {
  form: Form
  planned: PlannedForm
  onChange: ChangeForm
  /** Why the server refused the request. */
  error: Error | null
}

/** What is deployed, and in which version. */
export function SourceFields({ form, planned: { source, version: resolved }, onChange, error }: Props) {
  const { kind, sourceId, version, environmentId } = form
  const problem = fieldProblem(error, '/version_requirement')
  const published = new Map(source?.versions.map((one) => [one.version, one.created_at]))
  return (
    <Fieldset legend="Source">
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <SourceSelect
            kind={kind}
            id={sourceId}
            name={source?.name}
            onChange={(chosen) => onChange({ ...chosen, version: '', versionsOf: null, values: {}, asked: [] })}
          />
          {form.versionsOf === null ? (
            <Autocomplete
              label="Version"
              description={
                resolved === undefined || problem !== undefined
                  ? 'A version or a range as npm writes it, for example ^1.2.0. Empty: the newest that is not a prerelease'
                  : `Resolves to ${resolved}. A version or a range such as ^1.2.0; empty: the newest`
              }
              placeholder="newest"
              data={[...published.keys()]}
              renderOption={({ option: { value } }) => (
                <Group justify="space-between" wrap="nowrap" w="100%">
                  <span>{value}</span>
                  <Text size="xs">
                    <TimeAgo at={published.get(value)} />
                  </Text>
                </Group>
              )}
              maxDropdownHeight={280}
              value={version}
              onChange={(text) => onChange({ version: text })}
              error={problem}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
            />
          ) : (
            <FixedVersion versionsOf={form.versionsOf} onRelease={() => onChange({ versionsOf: null })} />
          )}
        </SimpleGrid>
        {sourceId !== null && <LastDeployment kind={kind} id={sourceId} environmentId={environmentId} />}
      </Stack>
    </Fieldset>
  )
}

interface LastProps {
  kind: Kind
  id: string
  environmentId: string | null
}

/** Offers to fill the form as in the last deployment of a source, in the environment if one is chosen. */
function LastDeployment({ kind, id, environmentId }: LastProps) {
  const { can } = useSession()
  const { from, as } = useSearch({ strict: false })
  const query = {
    [`${kind}_id`]: id,
    ...(environmentId === null ? {} : { environment_id: environmentId }),
    limit: 1,
  }
  const found = useRead('listDeployments', { query }, { enabled: can('deployments:read') && as === undefined })
  const last = found.data?.data[0]
  if (last === undefined || last.id === from || as !== undefined) return null
  return (
    <Text size="sm">
      <Anchor component={Link} to="/deploy" search={{ from: last.id } as never} size="sm">
        Fill in everything as in its last deployment
      </Anchor>
      {last.environment_name === null ? '' : ` in ${last.environment_name}`}, <TimeAgo at={last.created_at} />
    </Text>
  )
}

/** The versions of an earlier deployment, which take the place of a requirement. */
function FixedVersion({ versionsOf, onRelease }: { versionsOf: VersionsOf; onRelease: () => void }) {
  const { version, environmentId, deploymentId } = versionsOf
  return (
    <Input.Wrapper label="Version" labelElement="div">
      <Text size="sm">
        {version}, with all its parts as{' '}
        {environmentId === null ? (
          <Anchor component={Link} to={`/deployments/${deploymentId}`} size="sm">
            in that deployment
          </Anchor>
        ) : (
          <>
            in <RecordName kind="environment" id={environmentId} />
          </>
        )}
      </Text>
      <Button size="compact-xs" variant="default" mt={4} onClick={onRelease}>
        Choose another version
      </Button>
    </Input.Wrapper>
  )
}
