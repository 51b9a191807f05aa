export function endpointOf({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Removes line breaks and other control characters from a text of a target. */
export const plain = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim()
