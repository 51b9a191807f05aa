import { Button, Group, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Section } from '../../components/section.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { useSession } from '../../session/session.tsx'
import { TwoFactorSetup } from './two-factor-setup.tsx'

export function TwoFactor() {
  const { user } = useSession()
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[] | null>(null)
  // When it fails, somebody else may have enabled the factor: the state is read again.
  const setUp = useWrite('setUpTwoFactor', 'getCurrentUser')
  const isEnabled = user.two_factor_enabled
  return (
    <Section title="Two-factor authentication" action={<StateBadge state={isEnabled ? 'enabled' : 'disabled'} />}>
      <Text size="sm">
        {isEnabled
          ? 'A login needs your password and a code of your authenticator app.'
          : 'With it, a login needs your password and a code of an authenticator app.'}
        {user.identity !== null && ` A login with ${user.identity.provider} does not ask for it.`}
      </Text>
      {setUp.error && <ErrorAlert error={setUp.error} />}
      {setUp.data && !isEnabled && (
        <TwoFactorSetup
          setup={setUp.data}
          onCancel={setUp.reset}
          onEnabled={(codes) => {
            setUp.reset()
            setRecoveryCodes(codes)
          }}
        />
      )}
      <Group>
        {isEnabled && <Disable />}
        {!isEnabled && !setUp.data && (
          <Button size="xs" onClick={() => setUp.mutate({})} loading={setUp.isPending}>
            Set up
          </Button>
        )}
      </Group>
      {recoveryCodes && (
        <ShownOnce
          title="Recovery codes"
          explanation="Each code replaces the authenticator for one login. Slipway does not show these codes again. Store them apart from the authenticator."
          values={recoveryCodes}
          fileName="slipway-recovery-codes.txt"
          onClose={() => setRecoveryCodes(null)}
        />
      )}
    </Section>
  )
}

function Disable() {
  const [code, setCode] = useState('')
  const disable = useWrite('disableTwoFactor', 'getCurrentUser')
  const confirm = async () => {
    await disable.mutateAsync({ body: { code: code.trim() } })
    setCode('')
  }
  return (
    <ConfirmButton
      size="xs"
      variant="default"
      label="Disable two-factor authentication"
      question="A login then needs the password alone, and the recovery codes are deleted."
      inputs={(problemAt) => (
        <TextInput
          label="Code"
          description="Six digits of the authenticator, or an unused recovery code"
          autoComplete="one-time-code"
          required
          data-autofocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={problemAt('/code')}
        />
      )}
      onConfirm={confirm}
    />
  )
}
