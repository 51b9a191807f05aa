/** What a rule gives to the users whose claim has the value. */
export interface Rule {
  claim: string
  value: string | number | boolean
  roles: string[]
  /** The slug of a tenant. */
  tenant?: string
  /** Names of environments and of solutions: they limit the roles to these. */
  environments?: string[]
  solutions?: string[]
}

export interface RulesOfProvider {
  rules: readonly Rule[]
  /** For users whom no rule fits. */
  default_roles?: readonly string[]
}

/** A role within a scope, by names; null: every one. */
export interface NamedBinding {
  role: string
  environments: string[] | null
  solutions: string[] | null
}

/** By names. They may name what does not exist. */
export interface NamedRights {
  roles: string[]
  bindings: NamedBinding[]
  /** A slug; null: no tenant. */
  tenant: string | null
}

export type Claims = Readonly<Record<string, unknown>>

/** The rights that the rules of a provider give for these claims, or why they give none. */
export function rightsOf(
  { rules, default_roles = [] }: RulesOfProvider,
  claims: Claims,
): NamedRights | 'no_rights' | 'tenants_differ' {
  const fitting = rules.filter((rule) => fits(rule, claims))
  if (fitting.length === 0) {
    return default_roles.length === 0 ? 'no_rights' : { roles: unique(default_roles), bindings: [], tenant: null }
  }
  const tenants = unique(fitting.flatMap(({ tenant }) => tenant ?? []))
  if (tenants.length > 1) return 'tenants_differ'
  return {
    roles: unique(fitting.filter((rule) => !isScoped(rule)).flatMap(({ roles }) => roles)),
    bindings: withoutCopies(fitting.filter(isScoped).flatMap(bindingsOf)),
    tenant: tenants[0] ?? null,
  }
}

/** Types must be equal, too: the text "true" is not the value true. Inherited properties are no claims. */
function fits({ claim, value }: Rule, claims: Claims): boolean {
  if (!Object.hasOwn(claims, claim)) return false
  const given = claims[claim]
  return Array.isArray(given) ? given.includes(value) : given === value
}

const isScoped = ({ environments, solutions }: Rule) => environments !== undefined || solutions !== undefined

const bindingsOf = ({ roles, environments, solutions }: Rule): NamedBinding[] =>
  roles.map((role) => ({
    role,
    environments: environments === undefined ? null : unique(environments),
    solutions: solutions === undefined ? null : unique(solutions),
  }))

const unique = (names: readonly string[]) => [...new Set(names)].sort()

const withoutCopies = (bindings: NamedBinding[]) => [
  ...new Map(bindings.map((binding) => [JSON.stringify(binding), binding])).values(),
]
