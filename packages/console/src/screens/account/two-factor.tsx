import { Alert, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { ConflictError } from '@slipway/client'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { ConfirmButton } from '../../components/confirm-button.tsx'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { ShownOnce } from '../administration/shown-once.tsx'
import { TwoFactorSetup } from './two-factor-setup.tsx'

/** The API does not say whether the second factor is enabled, so this offers both ways until a call shows it. */
export function TwoFactor() {
  const [isEnabled, setEnabled] = useState<boolean | null>(null)
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[] | null>(null)
  const setUp = useWrite('setUpTwoFactor')
  const begin = () =>
    setUp.mutate(
      {},
      {
        onSuccess: () => setEnabled(false),
        // The API refuses to set up a factor that is enabled.
        onError: (error) => error instanceof ConflictError && setEnabled(true),
      },
    )
  const isConflict = setUp.error instanceof ConflictError
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h4">
        Two-factor authentication
      </Title>
      <Text size="sm">
        With two-factor authentication, a login needs the password and a code of an authenticator app.
      </Text>
      {isEnabled === true && (
        <Alert color="green" role="status">
          Two-factor authentication is enabled for this account.
        </Alert>
      )}
      {setUp.error && !isConflict && <ErrorAlert error={setUp.error} />}
      {setUp.data && (
        <TwoFactorSetup
          setup={setUp.data}
          onCancel={setUp.reset}
          onEnabled={(codes) => {
            setUp.reset()
            setEnabled(true)
            setRecoveryCodes(codes)
          }}
        />
      )}
      <Group>
        {isEnabled !== true && !setUp.data && (
          <Button size="xs" onClick={begin} loading={setUp.isPending}>
            Set up
          </Button>
        )}
        {isEnabled !== false && <Disable onDisabled={() => setEnabled(false)} />}
      </Group>
      {recoveryCodes && (
        <ShownOnce
          title="Recovery codes"
          explanation="Each code replaces the authenticator for one login. Slipway does not show these codes again. Store them apart from the authenticator."
          values={recoveryCodes}
          onClose={() => setRecoveryCodes(null)}
        />
      )}
    </Stack>
  )
}

function Disable({ onDisabled }: { onDisabled: () => void }) {
  const [code, setCode] = useState('')
  const disable = useWrite('disableTwoFactor')
  const confirm = async () => {
    await disable.mutateAsync({ body: { code: code.trim() } })
    setCode('')
    onDisabled()
  }
  return (
    <ConfirmButton
      size="xs"
      variant="default"
      label="Disable two-factor authentication"
      question="A login then needs the password alone, and the recovery codes are deleted."
      inputs={
        <TextInput
          label="Code"
          description="Six digits of the authenticator, or an unused recovery code"
          autoComplete="one-time-code"
          required
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
      }
      onConfirm={confirm}
    />
  )
}
