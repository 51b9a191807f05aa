import { Button, Group, Select } from '@mantine/core'
import { Page } from '../../components/page.tsx'
import { useSession } from '../../session/session.tsx'
import { SearchInput } from '../administration/search-input.tsx'
import { useAddress } from '../administration/use-address.ts'
import { RecordSelect } from '../environments/record-select.tsx'
import { CreateTarget } from './create-target.tsx'
import { useTagTexts } from './tags.tsx'
import { MatchingTargetList, TargetList } from './target-lists.tsx'

const STATUSES = ['online', 'stale', 'offline', 'disabled']

export function Targets() {
  const { search: address, change, page, toPage } = useAddress()
  const { can } = useSession()
  const { search = '', tag, environment, status } = address
  const knownTags = useTagTexts()
  const tags = tag === undefined || knownTags.includes(tag) ? knownTags : [tag, ...knownTags]
  const needsMatching = [tag, environment, status].some((filter) => filter !== undefined)
  return (
    <Page
      title="Targets"
      command={commandOf(address)}
      actions={
        can('targets:create') && (
          <Button size="xs" onClick={() => change({ new: 'yes' })}>
            New target
          </Button>
        )
      }
    >
      <Group align="flex-end">
        <SearchInput
          label="Search"
          placeholder="Part of the name"
          value={search}
          onChange={(search) => change({ search })}
        />
        <Select
          label="Status"
          placeholder="Any"
          clearable
          clearButtonProps={{ 'aria-label': 'Any status' }}
          data={STATUSES}
          value={status ?? null}
          onChange={(status) => change({ status: status ?? undefined })}
        />
        <RecordSelect
          kind="environment"
          label="Environment"
          placeholder="Any environment"
          value={environment ?? null}
          onChange={(id) => change({ environment: id ?? undefined })}
        />
        {tags.length > 0 && (
          <Select
            label="Tag"
            placeholder="Any"
            clearable
            searchable
            clearButtonProps={{ 'aria-label': 'Any tag' }}
            data={tags}
            value={tag ?? null}
            onChange={(tag) => change({ tag: tag ?? undefined })}
          />
        )}
      </Group>
      {needsMatching ? (
        <MatchingTargetList filters={{ search, tag, environment, status }} page={page} onPage={toPage} />
      ) : (
        <TargetList search={search} page={page} onPage={toPage} />
      )}
      {address['new'] !== undefined && can('targets:create') && (
        <CreateTarget isFirst={address['new'] === 'first'} onClose={() => change({ new: undefined })} />
      )}
    </Page>
  )
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function commandOf({ search, tag, environment }: Record<string, string | undefined>): string {
  const options = [
    search && `--search ${quoted(search)}`,
    tag && `--tag ${quoted(tag.replace(':', '='))}`,
    environment && `--environment ${environment}`,
  ]
  return ['slipway targets list', ...options.filter(Boolean)].join(' ')
}
