import type { InstanceSelector, MaybeSelector } from '@slipway/domain'

/** A record stores the empty selector for any instance, and shows null. */
export function shownSelector({ instance_selector }: { instance_selector: unknown }): {
  instance_selector: MaybeSelector
} {
  const selector = instance_selector as InstanceSelector
  return { instance_selector: Object.keys(selector).length === 0 ? null : selector }
}
