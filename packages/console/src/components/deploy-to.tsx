import { Anchor, Button, type ButtonProps, Combobox, Text, useCombobox } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../api/queries.ts'
import { useSession } from '../session/session.tsx'
import { useRight } from '../session/use-right.ts'
import { DeniedButton } from './denied-button.tsx'
import { LinkButton } from './link-button.tsx'
import { searchQuery } from './search-query.ts'
import type { Kind } from './source-kinds.ts'

interface Props extends ButtonProps {
  kind: Kind
  id: string
  /** Which version; without it the newest. */
  version?: string | undefined
  /** A deployment whose versions are taken, of all parts. */
  versionsOf?: string | undefined
  /** The tenant that it is for. */
  tenantId?: string | null
  'aria-label'?: string
}

const MAX_CHOICES = 50
const DEBOUNCE_MS = 250

/**
 * Leads to the preview of a deployment in an environment that the user chooses from a list. The form is filled in as in the last
 * deployment of the source there.
 */
export function DeployTo({ kind, id, version, versionsOf, tenantId, ...button }: Props) {
  const { can, user } = useSession()
  const may = useRight('deployments:create', { kind: 'deployment', environment_id: null, source: { type: kind, id } })
  // The server adds the tenant of the user.
  const tenant = tenantId === user.tenant_id ? undefined : (tenantId ?? undefined)
  const what = { kind, id, version, versions_of: versionsOf, tenant }
  if (!may.allowed) {
    return (
      <DeniedButton because={may.because} {...button}>
        Deploy to…
      </DeniedButton>
    )
  }
  if (!can('environments:read')) {
    return (
      <LinkButton may={may} to="/deploy" search={what} {...button}>
        Deploy…
      </LinkButton>
    )
  }
  return <Choice what={what} button={button} />
}

interface ChoiceProps {
  what: {
    kind: Kind
    id: string
    version: string | undefined
    versions_of: string | undefined
    tenant: string | undefined
  }
  button: ButtonProps
}

function Choice({ what, button }: ChoiceProps) {
  const navigate = useNavigate()
  const combobox = useCombobox({
    onDropdownOpen: () => combobox.focusSearchInput(),
    onDropdownClose: () => {
      combobox.resetSelectedOption()
      combobox.focusTarget()
      setText('')
    },
  })
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, DEBOUNCE_MS)
  const found = useRead(
    'listEnvironments',
    { query: { ...searchQuery(search), limit: MAX_CHOICES } },
    { enabled: combobox.dropdownOpened, keep: true },
  )
  const environments = found.data?.data
  const choose = (environment: string) => {
    combobox.closeDropdown()
    void navigate({ to: '/deploy', search: { ...what, environment, as: 'last', step: 'preview' } as never })
  }
  return (
    <Combobox store={combobox} onOptionSubmit={choose} width={280} position="bottom-start" withinPortal>
      <Combobox.Target targetType="button" withAriaAttributes={false}>
        <Button
          {...button}
          aria-haspopup="listbox"
          aria-expanded={combobox.dropdownOpened}
          onClick={() => combobox.toggleDropdown()}
        >
          Deploy to…
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          placeholder="Search environments"
          aria-label="Environment"
        />
        <Combobox.Options mah={300} style={{ overflowY: 'auto' }} aria-label="Environments">
          {environments?.map(({ id, name }) => (
            <Combobox.Option key={id} value={id} title={name}>
              <Text size="sm" truncate>
                {name}
              </Text>
            </Combobox.Option>
          ))}
          {environments?.length === 0 && <Combobox.Empty>No environment has such a name</Combobox.Empty>}
          {found.error && <Combobox.Empty>{found.error.message}</Combobox.Empty>}
          {environments === undefined && !found.error && <Combobox.Empty>Loading</Combobox.Empty>}
        </Combobox.Options>
        <Combobox.Footer>
          <Anchor component={Link} to="/deploy" search={what as never} size="xs">
            Other targets…
          </Anchor>
        </Combobox.Footer>
      </Combobox.Dropdown>
    </Combobox>
  )
}
