import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { curlCommand } from '../../components/commands.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { useSession } from '../../session/session.tsx'
import { SearchInput } from '../administration/search-input.tsx'
import { searchQuery } from '../administration/search-query.ts'
import { useAddress } from '../administration/use-address.ts'
import { RoleForm } from './role-form.tsx'
import { RoleTable } from './role-table.tsx'

export function Roles() {
  const { search, change, page, toPage } = useAddress()
  const { can } = useSession()
  const [isCreating, setCreating] = useState(false)
  const wanted = search['search']
  const query = { page, limit: 50, ...searchQuery(wanted) }
  const roles = useRead('listRoles', { query }, { keep: true })
  return (
    <Page
      title="Roles"
      command={curlCommand('/admin/roles')}
      actions={
        can('roles:create') && (
          <Button size="xs" onClick={() => setCreating(true)}>
            Create role
          </Button>
        )
      }
    >
      <Group>
        <SearchInput label="Search" placeholder="Name" value={wanted} onChange={(text) => change({ search: text })} />
      </Group>
      <Loaded read={roles}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={wanted ? 'No role has such a name' : 'No roles on this page'}>
              {wanted ? 'Search for another part of the name.' : 'A role is a set of permissions. Users get roles.'}
            </Empty>
          ) : (
            <>
              <RoleTable roles={data} />
              <Pager meta={meta} onPage={toPage} />
            </>
          )
        }
      </Loaded>
      {isCreating && <RoleForm record={null} onClose={() => setCreating(false)} />}
    </Page>
  )
}
