import { useNavigate, useSearch } from '@tanstack/react-router'
import { searchQuery } from './search-query.ts'

const PAGE_SIZE = 50

/** The search of the address as a screen reads it: text only, everything else is left out. */
export type Search = Record<string, string | undefined>

/** The search of the address, and how to change it. A changed filter leads back to the first page. */
export function useAddress() {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const go = (changed: Search, replace: boolean) =>
    void navigate({ to: '.', search: { ...search, page: undefined, ...changed } as never, replace })
  const page = search['page'] ?? '1'
  return {
    search,
    change: (changed: Search) => go(changed, true),
    page,
    toPage: (wanted: number) => go({ page: String(wanted) }, false),
    /** Page and search, for the query of a list. */
    listQuery: { ...searchQuery(search['search']), page, limit: PAGE_SIZE },
  }
}

/** The filters with these names that the address has. */
export const filtersOf = (search: Search, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (search[name] ? [[name, search[name]]] : [])))

/** What takes these filters out of the address. */
export const withoutFilters = (names: readonly string[]): Search =>
  Object.fromEntries(names.map((name) => [name, undefined]))
