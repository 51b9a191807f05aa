/** Servers at which each service has a user of its own. */
export type UserServer = 'DATABASE_URL' | 'RABBITMQ_URL'

/** Users belong to the whole server. Another prefix keeps those of a second installation on it apart. */
export const DEFAULT_USER_PREFIX = 'slipway_'

/** The user of a service or command. */
export const serviceUser = (service: string, prefix = DEFAULT_USER_PREFIX) => `${prefix}${service.replaceAll('-', '_')}`

/** The variable with the address under which a service connects, for whatever starts all services. */
export const serviceUrlVariable = (server: UserServer, service: string) =>
  `${server}_${service.replaceAll('-', '_').toUpperCase()}`

/**
 * The address of each service that the environment names.
 * @throws Error for an address of another user, or without a password
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
    if (!URL.canParse(text)) throw new Error(`${variable} is no address like protocol://user:password@host:port`)
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

/** Lines for a shell that set the address of each service: the server of `url` and its password, another user. */
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
