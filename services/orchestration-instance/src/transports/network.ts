import type { CommandFailureReason } from '@slipway/domain'

/** What the error code of a connection says about the target. Null for other codes. */
export function networkReason(code: string | number | undefined): CommandFailureReason | null {
  switch (code) {
    case 'ECONNREFUSED':
      return 'target_refused'
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
      return 'target_silent'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'target_name_unknown'
    case 'ECONNRESET':
    case 'EPIPE':
      return 'target_connection_lost'
    default:
      return null
  }
}

export function endpointOf({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Removes line breaks and other control characters from a text of a target. */
export const plain = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim()
