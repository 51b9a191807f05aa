import type { KeyRing } from '@slipway/runtime'

/** Where an instance is, and the secret by which it knows the bridge. */
export interface InstanceAddress {
  base_url: string
  callback_token: string
}

export const callbackIdentity = (instanceId: string) => `instance:${instanceId}:callback`

/** Throws SecretError. */
export function addressOf(
  keys: KeyRing,
  instanceId: string,
  { base_url, callback_token_sealed }: { base_url: string; callback_token_sealed: string },
): InstanceAddress {
  return { base_url, callback_token: keys.openText(callback_token_sealed, callbackIdentity(instanceId)) }
}
