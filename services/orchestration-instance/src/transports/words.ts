/** `host:port`, for people. */
export function endpointOf({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** In one line: what a target says may hold anything. */
export const plain = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim()
