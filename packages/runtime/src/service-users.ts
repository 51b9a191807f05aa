/** The servers with a separate user for each service. */
type UserServer = 'DATABASE_URL' | 'RABBITMQ_URL' | 'REDIS_URL'

/** Users belong to the whole server. A second installation on the same server needs another prefix. */
export const DEFAULT_USER_PREFIX = 'slipway_'

export const serviceUser = (service: string, prefix = DEFAULT_USER_PREFIX) => `${prefix}${service.replaceAll('-', '_')}`

/** The variable with the URL of one service, for programs that start all services. */
export const serviceUrlVariable = (server: UserServer, service: string) =>
  `${server}_${service.replaceAll('-', '_').toUpperCase()}`

/**
 * The URLs of services from the environment.
 * @throws Error for a URL with another user or without a password
 */
export function serviceUrls<Service extends string>(
  server: UserServer,
  services: readonly Service[],
  environment: Record<string, string | undefined>,
  prefix = DEFAULT_USER_PREFIX,
): Map<Service, URL> {
  const urls = new Map<Service, URL>()
  for (const service of services) {
    const variable = serviceUrlVariable(server, service)
    const text = environment[variable]
    if (!text) continue
    if (!URL.canParse(text))
      throw new Error(`${variable} is not a URL: it must have the form protocol://user:password@host:port`)
    const url = new URL(text)
    const expected = serviceUser(service, prefix)
    if (decodeURIComponent(url.username) !== expected) {
      throw new Error(
        `${variable} names the user ${url.username}: it must be ${expected}, or change SLIPWAY_ROLE_PREFIX`,
      )
    }
    if (url.password === '') throw new Error(`${variable} has no password: each service logs in with its own`)
    urls.set(service, url)
  }
  return urls
}

/** Shell lines that set the URL of each service: `url` with the user of the service. */
export function exportServiceUrls(
  server: UserServer,
  services: readonly string[],
  url: string,
  prefix = DEFAULT_USER_PREFIX,
): string[] {
  return services.map((service) => {
    const address = new URL(url)
    address.username = serviceUser(service, prefix)
    return `export ${serviceUrlVariable(server, service)}='${address.href}'`
  })
}
