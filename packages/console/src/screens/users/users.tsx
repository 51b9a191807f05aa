import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useSession } from '../../session/session.tsx'
import { SearchInput } from '../administration/search-input.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { useAddress } from '../administration/use-address.ts'
import { UserForm } from './user-form.tsx'
import { UserTable } from './user-table.tsx'

export function Users() {
  const { search, change, page, toPage } = useAddress()
  const { can } = useSession()
  const [isCreating, setCreating] = useState(false)
  const wanted = search['search']
  const query = { page, limit: 50, ...searchQuery(wanted) }
  const users = useRead('listUsers', { query }, { keep: true })
  return (
    <Page
      title="Users"
      command={wanted ? `slipway users list --search ${JSON.stringify(wanted)}` : 'slipway users list'}
      actions={
        can('users:create') && (
          <Button size="xs" onClick={() => setCreating(true)}>
            Create user
          </Button>
        )
      }
    >
      <Group>
        <SearchInput
          label="Search"
          placeholder="Name or e-mail"
          value={wanted}
          onChange={(text) => change({ search: text })}
        />
      </Group>
      <Loaded read={users}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={wanted ? 'No user has such a name or e-mail' : 'No users on this page'}>
              {wanted
                ? 'Search for another part of the name.'
                : 'Create a user for each person who works with Slipway.'}
            </Empty>
          ) : (
            <>
              <UserTable users={data} />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
      {isCreating && <UserForm user={null} onClose={() => setCreating(false)} />}
    </Page>
  )
}
