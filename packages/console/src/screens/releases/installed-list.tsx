import { Anchor, Button, Group, Stack } from '@mantine/core'
import type { Input } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/error-alert.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { CommandLine } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'
import { InstalledTable } from './installed-table.tsx'

const LIMIT = 50

interface Props {
  /** Which target or source, as the API filters. */
  filter: NonNullable<Input<'listReleases'>['query']>
  of: 'target' | 'source'
  /** The same for a check of all of it. */
  check: NonNullable<Input<'checkReleases'>['body']>
  /** The command that shows the same, if the screen does not show it. */
  command?: string
  /** Stands where there is nothing. */
  empty: ReactNode
}

/** What is in force on a target, or where a source is. The list of all filters shows the rest. */
export function InstalledList({ filter, of, check, command, empty }: Props) {
  const { can } = useSession()
  useLive('listReleases')
  const releases = useRead('listReleases', { query: { ...filter, limit: LIMIT } }, { keep: true })
  return (
    <Loaded read={releases}>
      {({ data, meta }) =>
        data.length === 0 ? (
          empty
        ) : (
          <>
            <InstalledTable rows={data} of={of} />
            {can('deployments:create') && data.some((one) => one.check !== null) && (
              <CheckNow filter={check} isPending={data.some((one) => one.check?.is_pending)} />
            )}
            <Group justify="space-between">
              {command !== undefined && <CommandLine command={command} />}
              <Anchor component={Link} to="/releases" search={filter as never} size="sm">
                {meta.total > data.length ? `Show all ${meta.total.toLocaleString()}` : 'Show with filters'}
              </Anchor>
            </Group>
          </>
        )
      }
    </Loaded>
  )
}

type Filter = NonNullable<Input<'checkReleases'>['body']>

/** Checks a target or a source now. */
function CheckNow({ filter, isPending }: { filter: Filter; isPending: boolean }) {
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
