import { Alert, Select, Stack } from '@mantine/core'
import { useSession } from '../../session/session.tsx'
import type { ConnectionFieldsProps, ConnectionType } from './connection-draft.ts'
import { SimulatedFields } from './simulated-fields.tsx'
import { SshFields } from './ssh-fields.tsx'

const TYPES: { value: ConnectionType; label: string }[] = [
  { value: 'ssh', label: 'SSH: a host with an SSH server' },
  { value: 'agent', label: 'Agent: a host on which the target-agent runs' },
  { value: 'simulated', label: 'Simulated: runs nothing and answers as scripted' },
  { value: 'local', label: 'Local: the machine of the orchestration instance' },
]

/** The kind of a connection and the fields of this kind. */
export function ConnectionFields({ problem, ...props }: ConnectionFieldsProps & { problem: string | undefined }) {
  const { draft, onChange } = props
  const { can } = useSession()
  const isOffered = ({ value }: { value: ConnectionType }) =>
    value !== 'local' || draft.type === 'local' || can('targets:local')
  const select = (value: string | null) => {
    const type = TYPES.find((one) => one.value === value)?.value
    if (type) onChange({ ...draft, type })
  }
  return (
    <Stack>
      <Select
        label="Connection"
        description="How commands reach the target"
        required
        allowDeselect={false}
        data={TYPES.filter(isOffered)}
        value={draft.type}
        onChange={select}
        error={problem}
      />
      {draft.type === 'ssh' && <SshFields {...props} />}
      {draft.type === 'simulated' && <SimulatedFields {...props} />}
      {draft.type === 'agent' && (
        <Alert color="blue" title="Next step">
          After you save, open the target and create an agent token. The agent enrols with the token.
        </Alert>
      )}
      {draft.type === 'local' && (
        <Alert color="yellow" title="Commands run on the machine of the instance">
          A deployment to this target can do what the instance's local user can do. Limit who deploys to it.
        </Alert>
      )}
    </Stack>
  )
}
