import { Alert } from '@mantine/core'
import { useServerState } from '../api/connection.ts'

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

/** Says that the server does not answer, for as long as it does not. */
export function Silence() {
  const { isSilent, lastNewsAt } = useServerState()
  if (!isSilent || lastNewsAt === null) return null
  return (
    <Alert color="#a8460b" variant="filled" py="xs" role="alert" className="silence">
      No answer from the server since {clock.format(lastNewsAt)}. It tries again.
    </Alert>
  )
}
