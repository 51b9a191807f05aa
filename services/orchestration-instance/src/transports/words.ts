/** `host:port`, for people. */
export function endpointOf({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** On one line without control characters, because the text of a target may hold anything. */
export const plain = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim()
