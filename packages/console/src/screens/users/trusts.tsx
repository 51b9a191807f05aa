import { Code, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { CommandLine, Empty } from '../../components/page.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { DeleteButton } from '../../components/row-buttons.tsx'
import { NewButton, Section } from '../../components/section.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { claimLines, TrustForm } from './trust-form.tsx'

type Trust = Answer<'listTrusts'>['trusts'][number]

interface Props {
  accountId: string
  mayChange: boolean
  command: string
}

/** Whose tokens a service account takes in place of a key. */
export function Trusts({ accountId, mayChange, command }: Props) {
  const trusts = useRead('listTrusts', { params: { id: accountId } })
  const [isCreating, setCreating] = useState(false)
  return (
    <Section title="Trusts" action={mayChange && <NewButton label="New trust" onClick={() => setCreating(true)} />}>
      <Text size="sm">A pipeline exchanges the token of its job for access, so it stores no key.</Text>
      <Loaded read={trusts}>
        {({ trusts: all }) =>
          all.length === 0 ? (
            <Empty title="There is no trust yet">Create one for each pipeline that uses this account.</Empty>
          ) : (
            <DataTable
              rows={all}
              label="Trusts"
              columns={[
                { head: 'Name', cell: ({ name }) => name },
                { head: 'Issuer', wraps: true, cell: ({ issuer }) => issuer },
                { head: 'Audience', wraps: true, cell: ({ audience }) => audience },
                {
                  head: 'Claims',
                  wraps: true,
                  width: 300,
                  cell: ({ claims }) => (
                    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                      {claimLines(claims).join('\n')}
                    </Code>
                  ),
                },
                { head: 'By', width: 120, cell: ({ created_by }) => <RecordName kind="user" id={created_by} /> },
                { head: 'Created', width: 112, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
              ]}
              actions={mayChange ? (trust) => <Delete accountId={accountId} trust={trust} /> : undefined}
            />
          )
        }
      </Loaded>
      <CommandLine command={command} />
      {isCreating && <TrustForm accountId={accountId} onClose={() => setCreating(false)} />}
    </Section>
  )
}

function Delete({ accountId, trust: { id, name } }: { accountId: string; trust: Trust }) {
  const remove = useWrite('deleteTrust', 'listTrusts')
  return (
    <DeleteButton
      name={name}
      question={`Tokens that only the trust ${name} names are no longer accepted. Access that a job has already lasts 15 minutes at most.`}
      onConfirm={() => remove.mutateAsync({ params: { id: accountId, trust_id: id } })}
    />
  )
}
