import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { fieldProblems } from '../../components/field-problem.ts'
import { Section } from '../../components/section.tsx'
import { useSession } from '../../session/session.tsx'

const MIN_LENGTH = 12
const MAX_LENGTH = 128

export function ChangePassword() {
  const { user } = useSession()
  const [current, setCurrent] = useState('')
  const [newPassword, setNewPassword] = useState('')
  const [repeated, setRepeated] = useState('')
  const change = useWrite('changePassword')
  const problems = fieldProblems(change.error)
  const [currentProblem, newProblem] = [problems.at('/current_password'), problems.at('/new_password')]
  const rest = problems.rest()
  const differs = repeated !== '' && repeated !== newPassword
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (repeated !== newPassword || change.isPending) return
    change.mutate(
      { body: { current_password: current, new_password: newPassword } },
      {
        onSuccess: () => {
          setCurrent('')
          setNewPassword('')
          setRepeated('')
        },
      },
    )
  }
  return (
    <Section title="Password">
      <Text size="sm">
        {user.identity === null
          ? 'A new password ends all your other sessions.'
          : `You log in with ${user.identity.provider}, which keeps your password. Only an emergency account has one here, too.`}
      </Text>
      <form onSubmit={submit}>
        <Stack gap="sm" maw={420}>
          {/* Password managers need to know the account. */}
          <input type="hidden" autoComplete="username" name="username" value={user.email ?? user.username} readOnly />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            error={currentProblem}
          />
          <PasswordInput
            label="New password"
            description={`${MIN_LENGTH} to ${MAX_LENGTH} characters`}
            autoComplete="new-password"
            required
            minLength={MIN_LENGTH}
            maxLength={MAX_LENGTH}
            value={newPassword}
            onChange={(event) => setNewPassword(event.currentTarget.value)}
            error={newProblem}
          />
          <PasswordInput
            label="New password again"
            autoComplete="new-password"
            required
            error={differs && 'This is not the same as the new password'}
            value={repeated}
            onChange={(event) => setRepeated(event.currentTarget.value)}
          />
          {rest && <ErrorAlert error={rest} />}
          {change.data && (
            <Alert color="green" role="status">
              {change.data.message}
            </Alert>
          )}
          <Group>
            <Button type="submit" size="xs" loading={change.isPending} disabled={differs}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
