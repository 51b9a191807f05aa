import { type Binding, isScoped } from '@slipway/domain'

/** Roles without and with a scope, as records show them. */
export const shownBindings = (bindings: readonly Binding[]) => ({
  roles: bindings
    .filter((binding) => !isScoped(binding))
    .map(({ role }) => role)
    .sort(),
  role_bindings: bindings
    .filter(isScoped)
    .map(({ role, environment_ids, solution_ids }) => ({ role, environment_ids, solution_ids })),
})
