import type { KeyRing } from '@slipway/runtime'

interface ConnectionSecrets {
  private_key?: string
  password?: string
}

export function openConnectionSecrets(keys: KeyRing, targetId: string, sealed: string | null): ConnectionSecrets {
  if (sealed === null) return {}
  return JSON.parse(keys.openText(sealed, `target:${targetId}:connection`)) as ConnectionSecrets
}
