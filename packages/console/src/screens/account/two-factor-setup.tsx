import { Anchor, Button, Code, CopyButton, Group, Stack, Text, TextInput } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { type FormEvent, useMemo, useState } from 'react'
import { encode } from 'uqr'
import { useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { fieldProblems } from '../../components/field-problem.ts'

interface Props {
  setup: Answer<'setUpTwoFactor'>
  onCancel: () => void
  onEnabled: (recoveryCodes: readonly string[]) => void
}

/** The secret for the authenticator, and the first code, which enables the second factor. */
export function TwoFactorSetup({ setup, onCancel, onEnabled }: Props) {
  const [code, setCode] = useState('')
  const enable = useWrite('enableTwoFactor', 'getCurrentUser')
  const problems = fieldProblems(enable.error)
  const codeProblem = problems.at('/code')
  const rest = problems.rest()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    // Not by the callback of `mutate`: it does not run if this form is gone once the user is read again.
    const answer = await enable.mutateAsync({ body: { code: code.trim() } }).catch(() => null)
    if (answer !== null) onEnabled(answer.recovery_codes)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Secret setup={setup} />
        <TextInput
          label="2. Code"
          description="The six digits that the authenticator shows now"
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          maw={260}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={codeProblem}
        />
        {rest && <ErrorAlert error={rest} />}
        <Group>
          <Button type="submit" size="xs" loading={enable.isPending}>
            Enable
          </Button>
          <Button variant="default" size="xs" onClick={onCancel}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Secret({ setup: { secret, otpauth_url } }: Pick<Props, 'setup'>) {
  // Text of the API becomes a link only with the scheme of authenticators.
  const isOtpauth = otpauth_url.startsWith('otpauth://')
  return (
    <Group align="start">
      <QrCode text={otpauth_url} label="QR code with the secret for an authenticator app" />
      <Stack gap="xs" flex={1} miw={220}>
        <Text size="sm">1. Scan the code with an authenticator app, or type this secret into it:</Text>
        <Code fz="md" style={{ overflowWrap: 'anywhere' }} data-testid="totp-secret">
          {secret}
        </Code>
        <Group gap="xs">
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button variant="default" size="compact-xs" onClick={copy}>
                {copied ? 'Copied' : 'Copy secret'}
              </Button>
            )}
          </CopyButton>
        </Group>
        {isOtpauth && (
          <Text size="sm">
            With an authenticator on this device: <Anchor href={otpauth_url}>open the authenticator</Anchor>
          </Text>
        )}
      </Stack>
    </Group>
  )
}

/** The four white modules around the code belong to it: scanners need them, in the dark theme too. */
const BORDER = 4

function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = useMemo(() => encode(text, { border: BORDER }), [text])
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} width={200} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
