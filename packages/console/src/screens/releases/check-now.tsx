import { Button, Stack } from '@mantine/core'
import type { Input } from '@slipway/client'
import { useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'

type Filter = NonNullable<Input<'checkReleases'>['body']>

/** Checks a target or a source now. */
export function CheckNow({ filter, isPending }: { filter: Filter; isPending: boolean }) {
  const check = useWrite('checkReleases', 'listReleases', 'listTargetReleases', 'getReleaseMatrix')
  return (
    <Stack gap={4} align="start">
      <Button
        size="compact-xs"
        variant="default"
        loading={check.isPending || isPending}
        onClick={() => check.mutate({ body: filter })}
      >
        Check now
      </Button>
      {check.error && <ErrorAlert error={check.error} />}
    </Stack>
  )
}
