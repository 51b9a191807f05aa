import { array, type Database, statement, text } from '@slipway/database'
import type { Logger } from '@slipway/runtime'
import type { Provider } from './providers-file.ts'

/** Those of the names that no record has. An environment or solution of any tenant counts. */
const findUnknownNames = statement({
  name: 'gateway.oidc.find-unknown-names',
  parameters: { roles: array(text), tenants: array(text), environments: array(text), solutions: array(text) },
  row: { kind: text, name: text },
  sql: `SELECT 'role' AS kind, given.name FROM unnest(:roles::text[]) AS given (name)
     WHERE NOT EXISTS (SELECT FROM roles r WHERE r.name = given.name)
    UNION ALL
    SELECT 'tenant', given.name FROM unnest(:tenants::text[]) AS given (name)
     WHERE NOT EXISTS (SELECT FROM tenants t WHERE t.slug = given.name)
    UNION ALL
    SELECT 'environment', given.name FROM unnest(:environments::text[]) AS given (name)
     WHERE NOT EXISTS (SELECT FROM environments e WHERE e.name = given.name)
    UNION ALL
    SELECT 'solution', given.name FROM unnest(:solutions::text[]) AS given (name)
     WHERE NOT EXISTS (SELECT FROM sources s WHERE s.kind = 'solution' AND s.name = given.name)`,
})

/** Warns of names in the rules that do not exist: users whom such a rule fits cannot log in. */
export async function reportUnknownNames(
  database: Pick<Database, 'query'>,
  providers: readonly Provider[],
  logger: Logger,
): Promise<void> {
  for (const { id, rules, default_roles = [] } of providers) {
    const unknown = await findUnknownNames.all(database, {
      roles: unique([...default_roles, ...rules.flatMap(({ roles }) => roles)]),
      tenants: unique(rules.flatMap(({ tenant }) => tenant ?? [])),
      environments: unique(rules.flatMap(({ environments }) => environments ?? [])),
      solutions: unique(rules.flatMap(({ solutions }) => solutions ?? [])),
    })
    if (unknown.length === 0) continue
    logger.warn('rules of a login provider name what does not exist: users whom they fit cannot log in', {
      provider: id,
      unknown: unknown.map(({ kind, name }) => `${kind} ${name}`),
    })
  }
}

const unique = (names: readonly string[]) => [...new Set(names)]
