import type { InstanceSelector, MaybeSelector } from '@slipway/domain'

interface SelectorInput {
  instance_selector?: MaybeSelector
}
interface SelectorColumn {
  instance_selector: InstanceSelector
}

/** A record stores the empty selector for any instance. */
export const newSelector = ({ instance_selector }: SelectorInput): SelectorColumn => ({
  instance_selector: instance_selector ?? {},
})

/** Empty if the body does not change the selector. */
export const changedSelector = (body: SelectorInput): SelectorColumn | Record<never, never> =>
  body.instance_selector === undefined ? {} : newSelector(body)
