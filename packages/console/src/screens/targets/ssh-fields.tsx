import { Group, PasswordInput, Textarea, TextInput } from '@mantine/core'
import type { ConnectionFieldsProps } from './connection-draft.ts'

export function SshFields({ draft, onChange, problemAt, isStored = false }: ConnectionFieldsProps) {
  const kept = isStored ? ' Leave empty to keep the stored one; a new host, port or user name needs it again.' : ''
  return (
    <>
      <Group align="start" grow preventGrowOverflow={false}>
        <TextInput
          label="Host"
          required
          flex={3}
          value={draft.host}
          onChange={(event) => onChange({ ...draft, host: event.currentTarget.value })}
          error={problemAt('/connection/host')}
        />
        <TextInput
          label="Port"
          type="number"
          min={1}
          max={65_535}
          placeholder="22"
          flex={1}
          value={draft.port}
          onChange={(event) => onChange({ ...draft, port: event.currentTarget.value })}
          error={problemAt('/connection/port')}
        />
      </Group>
      <TextInput
        label="User name"
        required
        autoComplete="off"
        value={draft.username}
        onChange={(event) => onChange({ ...draft, username: event.currentTarget.value })}
        error={problemAt('/connection/username')}
      />
      <Textarea
        label="Private key"
        description={`In PEM or OpenSSH format, without a passphrase.${kept}`}
        autosize
        maxRows={6}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={draft.private_key}
        onChange={(event) => onChange({ ...draft, private_key: event.currentTarget.value })}
        error={problemAt('/connection/private_key')}
      />
      <PasswordInput
        label="Password"
        description={`In place of a private key.${kept}`}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
        value={draft.password}
        onChange={(event) => onChange({ ...draft, password: event.currentTarget.value })}
        error={problemAt('/connection/password')}
      />
      <TextInput
        label="Host key"
        description="A public key, a line of known_hosts, or a SHA256: fingerprint. Without it, the first connection pins the key."
        value={draft.host_key}
        onChange={(event) => onChange({ ...draft, host_key: event.currentTarget.value })}
        error={problemAt('/connection/host_key')}
      />
    </>
  )
}
