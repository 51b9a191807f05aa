import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { client } from '../api/client.ts'
import { ErrorAlert } from '../components/error-alert.tsx'

interface Props {
  /** Whether the form has the focus at first. */
  isFocused: boolean
  onDone: () => Promise<void>
}

/** E-mail and password, then a code where the account has a second factor. */
export function PasswordLogin({ isFocused, onDone }: Props) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [giveCode, setGiveCode] = useState<((code: string) => void) | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(false)

  const login = async () => {
    setBusy(true)
    setError(null)
    try {
      await client.login({
        email,
        password,
        code: () =>
          new Promise<string>((resolve) => {
            setBusy(false)
            setGiveCode(() => resolve)
          }),
        onWrongCode: (wrong) => {
          setError(wrong)
          setCode('')
        },
      })
      await onDone()
    } catch (problem) {
      setError(problem as Error)
    } finally {
      setBusy(false)
      setGiveCode(null)
      setCode('')
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (giveCode === null) return void login()
    setBusy(true)
    setError(null)
    giveCode(code.trim())
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        {giveCode === null ? (
          <>
            <TextInput
              label="E-mail"
              type="email"
              autoComplete="username"
              required
              autoFocus={isFocused}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
          </>
        ) : (
          <TextInput
            label="Code"
            description="Six digits of your authenticator, or a recovery code"
            autoComplete="one-time-code"
            required
            autoFocus
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
        )}
        {error && <ErrorAlert error={error} />}
        <Button type="submit" loading={busy}>
          {giveCode === null ? 'Log in' : 'Confirm'}
        </Button>
      </Stack>
    </form>
  )
}
