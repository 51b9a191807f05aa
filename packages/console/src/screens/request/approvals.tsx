import { List, Stack, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { counted } from '../../components/counted.ts'
import { Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'

type Approvals = NonNullable<Answer<'getPending'>['approvals']>

/** Which rules ask for approvals, who has given some, and until when they count. */
export function Approvals({ approvals: { rules, given, expires_at } }: { approvals: Approvals }) {
  const isComplete = rules.every(({ missing }) => missing === 0)
  return (
    <Section title="Approvals">
      <List size="sm">
        {rules.map((rule) => (
          <List.Item key={rule.environment_id}>
            {rule.environment_name}: {ruleWords(rule)}{' '}
            <StateBadge
              state={rule.missing === 0 ? 'success' : 'pending'}
              label={rule.missing === 0 ? 'complete' : `${rule.missing} missing`}
            />
          </List.Item>
        ))}
      </List>
      {given.length === 0 ? (
        <Text size="sm">Nobody has approved it yet.</Text>
      ) : (
        <Stack gap={2} component="ul" p={0} m={0} style={{ listStyle: 'none' }} aria-label="Given approvals">
          {given.map(({ user_id, user_name, at, comment }) => (
            <Text key={user_id} size="sm" component="li">
              <b>{user_name}</b> approved <TimeAgo at={at} />
              {comment !== null && comment !== '' && `: ${comment}`}
            </Text>
          ))}
        </Stack>
      )}
      {!isComplete && (
        <Text size="sm">
          If an approval is still missing, the request is cancelled <TimeAgo at={expires_at} />
        </Text>
      )}
    </Section>
  )
}

function ruleWords({ count, role, allow_author }: Approvals['rules'][number]): string {
  const who = role === null ? '' : ` of the role ${role}`
  return `${counted(count, 'approval')}${who}${allow_author ? ', also of the author' : ''}`
}
