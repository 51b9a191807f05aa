import type { QueryClient } from '@tanstack/react-query'
import type { Form } from './form.ts'

interface Place {
  /** Holds whole forms until the user changes. */
  queries: QueryClient
  userId: string
  /** Of the address; undefined before the first change. */
  id: string | undefined
}

const storageKey = ({ userId, id }: Place) => `deploy-form:${userId}:${id}`
const cacheKey = (id: string) => ['deployForm', id]

/**
 * Keeps a form for Back and for a reload. A reload loses the secrets, because the browser may write its storage to disk.
 * @param open the variables that are no secrets; null: not known yet, so nothing is stored
 */
export function keepDraft(place: Place, form: Form, open: ReadonlySet<string> | null): void {
  const { queries, id } = place
  if (id === undefined) return
  queries.setQueryDefaults(['deployForm'], { gcTime: Number.POSITIVE_INFINITY })
  queries.setQueryData(cacheKey(id), form)
  if (open === null) return
  try {
    sessionStorage.setItem(storageKey(place), JSON.stringify(withoutSecrets(form, open)))
  } catch {
    // Without storage, or with a full one, a reload begins with the form of the address.
  }
}

export function readDraft(place: Place): Form | null {
  const { queries, id } = place
  if (id === undefined) return null
  const whole = queries.getQueryData<Form>(cacheKey(id))
  if (whole !== undefined) return whole
  const text = sessionStorage.getItem(storageKey(place))
  return text === null ? null : (JSON.parse(text) as Form)
}

/** Secrets that were typed are asked for again. */
export function withoutSecrets(form: Form, open: ReadonlySet<string>): Form {
  const closed = Object.entries(form.values).filter(([name, value]) => !open.has(name) && value.length > 0)
  return {
    ...form,
    values: Object.fromEntries(Object.entries(form.values).filter(([name]) => open.has(name))),
    asked: [...new Set([...form.asked, ...closed.map(([name]) => name)])],
  }
}
