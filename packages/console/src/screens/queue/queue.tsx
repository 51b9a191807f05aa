import { Button, Group, SegmentedControl, Table, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useLive } from '../../api/live.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { useAddress } from '../../components/use-address.ts'
import { EndedRow, WaitingRow } from './queue-rows.tsx'

/** Rows drawn at first, and more at each click: thousands of rows with buttons slow the page. */
const SHOWN = 100

const STATUSES = [
  { value: 'pending', label: 'Waiting' },
  { value: 'dispatched', label: 'Started' },
  { value: 'cancelled', label: 'Cancelled' },
  { value: 'failed', label: 'Failed' },
] as const
type Status = (typeof STATUSES)[number]['value']

const NOTHING: Record<Exclude<Status, 'pending'>, string> = {
  dispatched: 'No request from the queue has started',
  cancelled: 'No request was cancelled',
  failed: 'No request has failed',
}

/** The requests that wait, in the order in which they start; or those that have left the queue. */
export function Queue() {
  const { search, change } = useAddress()
  const status = STATUSES.find(({ value }) => value === search['status'])?.value ?? 'pending'
  useLive('listPending')
  const requests = useRead('listPending', { query: { status } })
  return (
    <Page
      title="Queue"
      command={status === 'pending' ? 'slipway pending list' : `slipway pending list --status ${status}`}
    >
      <Group>
        <SegmentedControl
          aria-label="Which requests"
          size="xs"
          value={status}
          onChange={(chosen) => change({ status: chosen === 'pending' ? undefined : chosen })}
          data={[...STATUSES]}
        />
        {status === 'pending' && (
          <Text size="sm">The highest priority starts first; among equals, the one that waits longest.</Text>
        )}
      </Group>
      <Loaded read={requests}>
        {(all) => {
          if (all.length > 0) return <Requests key={status} requests={all} isWaiting={status === 'pending'} />
          if (status !== 'pending') return <Empty title={NOTHING[status]} />
          return (
            <Empty title="Nothing waits">
              Deployments wait here for a free slot, a target, a start time, an approval or a window, or while a freeze
              is in force.
            </Empty>
          )
        }}
      </Loaded>
    </Page>
  )
}

function Requests({ requests, isWaiting }: { requests: Answer<'listPending'>; isWaiting: boolean }) {
  const [shown, setShown] = useState(SHOWN)
  const [first] = requests
  return (
    <>
      <Table.ScrollContainer minWidth={900}>
        <Table aria-label="Requests">
          <Table.Thead>
            <Table.Tr>
              {isWaiting && <Table.Th>Place</Table.Th>}
              <Table.Th>Priority</Table.Th>
              <Table.Th miw={160}>What</Table.Th>
              <Table.Th miw={200}>{isWaiting ? 'Why it waits' : 'What became of it'}</Table.Th>
              <Table.Th>Where</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th>Since</Table.Th>
              <Table.Th style={{ whiteSpace: 'nowrap' }}>{isWaiting ? 'Starts about' : 'Started'}</Table.Th>
              {isWaiting && (
                <Table.Th>
                  <span className="visually-hidden">Actions</span>
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {requests
              .slice(0, shown)
              .map((request) =>
                isWaiting ? (
                  <WaitingRow key={request.id} request={request} highest={first?.priority ?? 0} />
                ) : (
                  <EndedRow key={request.id} request={request} />
                ),
              )}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Group>
        <Text size="sm">{requests.length.toLocaleString()} in all</Text>
        {requests.length > shown && (
          <Button size="compact-xs" variant="default" onClick={() => setShown(shown + SHOWN)}>
            Show more
          </Button>
        )}
      </Group>
    </>
  )
}
