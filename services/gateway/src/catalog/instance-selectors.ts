import type { InstanceSelector, MaybeSelector } from '@slipway/domain'

interface Given {
  instance_selector?: MaybeSelector
}
interface Column {
  instance_selector: InstanceSelector
}

/** A record stores the empty selector for any instance. */
export const newSelector = ({ instance_selector }: Given): Column => ({ instance_selector: instance_selector ?? {} })

/** Empty if the body does not change the selector. */
export const changedSelector = (body: Given): Column | Record<never, never> =>
  body.instance_selector === undefined ? {} : newSelector(body)
