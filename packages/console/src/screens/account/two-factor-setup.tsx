import { Anchor, Button, Code, CopyButton, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'

interface Props {
  setup: Answer<'setUpTwoFactor'>
  onCancel: () => void
  onEnabled: (recoveryCodes: readonly string[]) => void
}

/** The secret for the authenticator, and the first code, which enables the second factor. */
export function TwoFactorSetup({ setup, onCancel, onEnabled }: Props) {
  const [code, setCode] = useState('')
  const enable = useWrite('enableTwoFactor')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    enable.mutate({ body: { code: code.trim() } }, { onSuccess: ({ recovery_codes }) => onEnabled(recovery_codes) })
  }
  // Text of the API becomes a link only with the scheme of authenticators.
  const isOtpauth = setup.otpauth_url.startsWith('otpauth://')
  return (
    <Paper withBorder p="md" maw={560} component="form" onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">1. Add this secret to your authenticator app: six digits, every 30 seconds.</Text>
        <Group gap="xs">
          <Code fz="md" style={{ overflowWrap: 'anywhere' }} data-testid="totp-secret">
            {setup.secret}
          </Code>
          <CopyButton value={setup.secret}>
            {({ copied, copy }) => (
              <Button variant="default" size="compact-xs" onClick={copy}>
                {copied ? 'Copied' : 'Copy secret'}
              </Button>
            )}
          </CopyButton>
        </Group>
        {isOtpauth && (
          <Text size="sm">
            With an authenticator on this device: <Anchor href={setup.otpauth_url}>open the authenticator</Anchor>
          </Text>
        )}
        <TextInput
          label="2. Code"
          description="The six digits that the authenticator shows now"
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        {enable.error && <ErrorAlert error={enable.error} />}
        <Group>
          <Button type="submit" size="xs" loading={enable.isPending}>
            Enable
          </Button>
          <Button variant="default" size="xs" onClick={onCancel}>
            Back
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
