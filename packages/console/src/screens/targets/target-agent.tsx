import { Button, Group, Text } from '@mantine/core'
import { type Answer, NotFoundError } from '@slipway/client'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { DeniedButton } from '../../components/denied-button.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { exactTime, TimeAgo } from '../../components/time-ago.tsx'
import { useRight } from '../../session/use-right.ts'

/** The agent that is enrolled for the target, and how to enrol one. */
export function TargetAgent({ target }: { target: Answer<'getTarget'> }) {
  const right = useRight('targets:update', { kind: 'target', environment_id: target.environment_id })
  const params = { id: target.id }
  const agent = useRead('getTargetAgent', { params })
  const createToken = useWrite('createAgentToken')
  const revoke = useWrite('revokeTargetAgent', 'getTargetAgent', 'getTarget')
  const isMissing = agent.error instanceof NotFoundError
  return (
    <Section title="Agent">
      {isMissing ? (
        <Text size="sm">
          No agent is enrolled. Create a token, then run deploy/agent/install.sh with it on the target.
        </Text>
      ) : (
        <Loaded read={agent}>
          {({ agent_id, host, port, version, enrolled_at, last_seen_at }) => (
            <Facts
              facts={[
                ['Address', `${host}:${port}`],
                ['Version', version],
                ['Enrolled', <TimeAgo key="enrolled" at={enrolled_at} />],
                ['Last seen', <TimeAgo key="seen" at={last_seen_at} />],
                ['Agent id', agent_id],
              ]}
            />
          )}
        </Loaded>
      )}
      {createToken.error && <ErrorAlert error={createToken.error} />}
      <Group>
        {right.allowed ? (
          <Button size="xs" loading={createToken.isPending} onClick={() => createToken.mutate({ params })}>
            Create agent token
          </Button>
        ) : (
          <DeniedButton size="xs" because={right.because}>
            Create agent token
          </DeniedButton>
        )}
        <ConfirmButton
          may={right}
          size="xs"
          variant="default"
          label="Revoke agent"
          destroys
          question="The agent ends its commands at its next heartbeat, within 30 seconds. Tokens that are not used yet become invalid."
          onConfirm={() => revoke.mutateAsync({ params })}
        />
      </Group>
      {createToken.data && (
        <ShownOnce
          title="Agent token"
          explanation={`An agent enrols once with this token, until ${exactTime(createToken.data.expires_at)}. Slipway does not show the token again. Earlier tokens are invalid.`}
          values={[createToken.data.token]}
          onClose={createToken.reset}
        />
      )}
    </Section>
  )
}
