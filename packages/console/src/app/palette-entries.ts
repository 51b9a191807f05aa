import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useRead } from '../api/queries.ts'
import { KINDS, type Kind, OPERATIONS } from '../components/source-kinds.ts'
import { sourceName } from '../components/source-name.ts'
import { useSession } from '../session/session.tsx'
import { visibleScreens } from './navigation.ts'

export interface Entry {
  key: string
  label: string
  description: string
  act: () => void
}

const MAX_FOUND = 6
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What the palette offers for a text: screens and acts at once, records that the server finds for `searched`. */
export function usePaletteEntries(text: string, searched: string, onHelp: () => void) {
  const { can } = useSession()
  const navigate = useNavigate()
  const acts = useActs(onHelp)
  const typed = text.trim().toLowerCase()
  const search = searched.trim()
  const query = { query: { search, limit: MAX_FOUND } }
  const maySearch = (permission: string) => ({ enabled: search.length >= 2 && can(permission), keep: true })

  const deployments = useRead('listDeployments', query, maySearch('deployments:read'))
  const targets = useRead('listTargets', query, maySearch('targets:read'))
  const sources: Record<Kind, ReturnType<typeof useRead<'listActions'>>> = {
    solution: useRead(OPERATIONS.solution.list, query, maySearch('solutions:read')),
    sequence: useRead(OPERATIONS.sequence.list, query, maySearch('sequences:read')),
    action: useRead(OPERATIONS.action.list, query, maySearch('actions:read')),
  }
  const entry = (key: string, label: string, description: string, to: string): Entry => ({
    key,
    label,
    description,
    act: () => void navigate({ to }),
  })
  const found = [
    ...(deployments.data?.data ?? []).map((one) =>
      entry(one.id, sourceName(one), `Deployment ${one.id}, ${one.state}`, `/deployments/${one.id}`),
    ),
    ...(targets.data?.data ?? []).map(({ id, name, status }) => entry(id, name, `Target, ${status}`, `/targets/${id}`)),
    ...KINDS.flatMap((kind) =>
      (sources[kind].data?.data ?? []).map(({ id, name, latest_version }) =>
        entry(id, name, `${kind} ${latest_version ?? ''}`, `/sources/${kind}s/${id}`),
      ),
    ),
  ]
  const reads = [deployments, targets, ...Object.values(sources)]
  return {
    entries: [
      ...(UUID.test(typed) ? [entry(typed, typed, 'Deployment with this id', `/deployments/${typed}`)] : []),
      ...visibleScreens(can)
        .filter(({ label }) => label.toLowerCase().includes(typed))
        .map(({ path, label, key }) => entry(path, label, `Screen, g ${key}`, path)),
      ...acts.filter(({ label }) => label.toLowerCase().includes(typed)),
      // The answer to a shorter text stays until the next one is here.
      ...(typed.length >= 2 ? found : []),
    ],
    error: reads.find(({ error }) => error !== null)?.error ?? null,
    isSearching: typed !== search.toLowerCase() || reads.some(({ isFetching }) => isFetching),
  }
}

/** What can be done from every screen. */
function useActs(onHelp: () => void): Entry[] {
  const { can, logout } = useSession()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const next = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark'
  const create = (what: string, permission: string, to: string, search: Record<string, string>) =>
    can(permission) ? [{ label: `Create ${what}`, act: () => void navigate({ to, search: search as never }) }] : []
  return [
    ...create('a target', 'targets:create', '/targets', { new: 'yes' }),
    ...KINDS.flatMap((kind) =>
      create(`${kind === 'action' ? 'an' : 'a'} ${kind}`, `${kind}s:create`, '/sources', { kind, new: 'yes' }),
    ),
    ...(can('deployments:read') ? [{ label: 'Show the releases', act: () => void navigate({ to: '/releases' }) }] : []),
    { label: `Use the ${next} theme`, act: () => setColorScheme(next) },
    { label: 'Show the keyboard shortcuts', act: onHelp },
    { label: 'Log out', act: () => void logout() },
  ].map((act) => ({ ...act, key: act.label, description: 'Do it' }))
}
