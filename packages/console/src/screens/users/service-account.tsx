import { Button, Code, Text } from '@mantine/core'
import type { Answer } from '@slipway/client'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { ApiKeys } from '../../components/api-keys.tsx'
import { shellQuoted } from '../../components/commands.ts'
import { RoleWords } from '../../components/limit-words.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { RecordName } from '../../components/record-select.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { askedOf } from '../../session/right-question.ts'
import { useSession } from '../../session/session.tsx'
import { ServiceAccountForm } from './service-account-form.tsx'
import { Trusts } from './trusts.tsx'

type User = Answer<'getUser'>

/** A service account: what it may do, whose tokens it takes, and its API keys. */
export function ServiceAccount() {
  const { id = '' } = useParams({ strict: false })
  const { can } = useSession()
  const read = useRead('getUser', { params: { id } })
  const [isChanging, setChanging] = useState(false)
  const account = read.data
  const isAccount = account?.kind === 'service'
  return (
    <Page
      title={account?.username ?? 'Service account'}
      command={account && `slipway service-accounts show ${shellQuoted(account.username)}`}
      actions={
        isAccount &&
        can('users:update') && (
          <Button size="xs" variant="default" onClick={() => setChanging(true)}>
            Edit
          </Button>
        )
      }
    >
      <Loaded read={read}>{(user) => <Shown account={user} />}</Loaded>
      {isChanging && account && <ServiceAccountForm account={account} onClose={() => setChanging(false)} />}
    </Page>
  )
}

function Shown({ account }: { account: User }) {
  const { can } = useSession()
  const { id, kind, username, display_name, status, tenant_id, created_at } = account
  const mayChange = can('users:update')
  if (kind !== 'service')
    return <Text size="sm">This user is a person, who logs in. Only service accounts have trusts.</Text>
  return (
    <>
      <Section title="Service account">
        <Facts
          facts={[
            ['Name', display_name ?? username],
            ['Status', <StateBadge key="status" state={status} />],
            ['Roles', <RoleWords key="roles" user={account} />],
            ['Tenant', <RecordName key="tenant" kind="tenant" id={tenant_id} none="all" />],
            ['Created', <TimeAgo key="created" at={created_at} />],
            ['In a pipeline', <Code key="pipeline">SLIPWAY_SERVICE_ACCOUNT={shellQuoted(username)}</Code>],
          ]}
        />
      </Section>
      <Trusts accountId={id} mayChange={mayChange} command={`slipway trusts list ${shellQuoted(username)}`} />
      <AccountKeys account={account} mayChange={mayChange} />
    </>
  )
}

function AccountKeys({ account, mayChange }: { account: User; mayChange: boolean }) {
  const { id, username, permissions } = account
  const create = useWrite('createUserApiKey', 'listUserApiKeys')
  const revoke = useWrite('deleteUserApiKey', 'listUserApiKeys')
  return (
    <ApiKeys
      read={useRead('listUserApiKeys', { params: { id } })}
      purpose="Where a pipeline has no token of its own, it uses an API key of this account. Somebody has to store and replace it."
      all="all permissions of the account"
      scopes={[...permissions, ...askedOf(account)].sort()}
      command={`slipway keys list --account ${shellQuoted(username)}`}
      create={create}
      onCreate={mayChange ? (body, then) => create.mutate({ params: { id }, body }, then) : undefined}
      onRevoke={mayChange ? (key_id) => revoke.mutateAsync({ params: { id, key_id } }) : undefined}
    />
  )
}
