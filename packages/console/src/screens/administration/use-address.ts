import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Search } from '../../app/router.tsx'

/** The search of the address, and how to change it. A changed filter leads back to the first page. */
export function useAddress() {
  const search: Search = useSearch({ strict: false })
  const navigate = useNavigate()
  const go = (changed: Search, replace: boolean) =>
    void navigate({ to: '.', search: { ...search, page: undefined, ...changed } as never, replace })
  return {
    search,
    change: (changed: Search) => go(changed, true),
    page: search['page'] ?? '1',
    toPage: (page: number) => go({ page: String(page) }, false),
  }
}
