import type { User } from '../session/session.tsx'
import { limitWords } from './limits.ts'
import { useRecordNames } from './record-names.ts'

interface Stored {
  environment_ids: readonly string[] | null
  solution_ids: readonly string[] | null
}

/** The limits of each in words, with the names of environments and solutions. */
function useLimitWords(all: readonly Stored[]): string[] {
  const names = {
    environment: useRecordNames(
      'environment',
      all.flatMap(({ environment_ids }) => environment_ids ?? []),
    ),
    solution: useRecordNames(
      'solution',
      all.flatMap(({ solution_ids }) => solution_ids ?? []),
    ),
  }
  return all.map((one) => limitWords(one, names))
}

/** The limits of an API key. */
export function LimitWords({ limits, none }: { limits: Stored; none: string }) {
  const [words = ''] = useLimitWords([limits])
  return words === '' ? none : words
}

/** The roles of a user without and with a scope, such as "deployer in production for storefront". */
export function RoleWords({ user: { roles, role_bindings } }: { user: Pick<User, 'roles' | 'role_bindings'> }) {
  const words = useLimitWords(role_bindings)
  if (roles.length + words.length === 0) return '–'
  return (
    <>
      {roles.join(', ')}
      {role_bindings.map((binding, index) => (
        <div key={JSON.stringify(binding)}>
          {binding.role} {words[index]}
        </div>
      ))}
    </>
  )
}
