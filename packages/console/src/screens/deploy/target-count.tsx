import { Loader, Text } from '@mantine/core'
import { type Answer, PermissionError, ValidationError } from '@slipway/client'
import { counted } from '../../components/counted.ts'
import type { Counting } from './counting.ts'

/** How many targets the request selects now. */
export function TargetCount({ counting }: { counting: Counting }) {
  const { isReady, error, preview, isBusy } = counting
  return (
    <Text size="sm" role="status">
      {!isReady && 'Choose a source and targets to see how many targets this selects.'}
      {isReady && error !== null && reasonOf(error)}
      {isReady && error === null && preview !== undefined && <Selected summary={preview.target_summary} />}
      {isBusy && <Loader role="img" size="xs" ml="xs" aria-label="Counting targets" />}
    </Text>
  )
}

type Summary = Answer<'previewDeployment'>['target_summary']

function Selected({ summary: found }: { summary: Summary }) {
  const { environments } = found
  return (
    <>
      Selects {summary(found)}
      {environments.length > 1 && (
        <Text span fw={600} size="sm">
          : {inEnvironments(environments)}
        </Text>
      )}{' '}
    </>
  )
}

/** "6 in production, 2 in staging". */
export const inEnvironments = (environments: Summary['environments']): string =>
  environments
    .map(({ name, count }) => `${count.toLocaleString()} in ${name === null ? 'no environment' : name}`)
    .join(', ')

export function summary({
  total,
  online,
  stale,
  offline,
}: Pick<Summary, 'total' | 'online' | 'stale' | 'offline'>): string {
  const states = Object.entries({ online, stale, offline }).filter(([, count]) => count > 0)
  const detail = states.map(([state, count]) => `${count.toLocaleString()} ${state}`).join(', ')
  return `${counted(total, 'target')}${detail === '' ? '' : ` (${detail})`}`
}

/** What is wrong with the targets. Other problems stand beside their fields. */
function reasonOf(error: Error): string {
  if (error instanceof PermissionError) return 'You may not deploy to them. The reason stands at the end of the form.'
  if (!(error instanceof ValidationError)) return error.message
  const own = error.problems.filter(({ path }) => path.startsWith('/target'))
  if (own.length > 0) return own.map(({ message }) => message).join('; ')
  return 'The targets are counted when the other fields are right.'
}
