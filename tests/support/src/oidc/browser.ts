import { CookieJar } from 'tough-cookie'

export interface Visited {
  /** Where the browser is now. */
  url: URL
  status: number
  body: string
  /** All addresses on the way, with the last one. */
  way: string[]
}

interface VisitOptions {
  /** Stops before it opens such an address; the answer has status 0. */
  until?(url: URL): boolean
  method?: 'GET' | 'POST'
  form?: Record<string, string>
}

const MAX_REDIRECTS = 20
const siteOf = (url: URL) => `${url.protocol}//${url.hostname}`

/**
 * A browser as far as cookies go: it follows redirects and keeps the rules of SameSite, which `fetch` does not know. A redirect from
 * another site takes only Lax cookies along.
 */
export function openBrowser() {
  const jar = new CookieJar()

  async function send(url: URL, sameSiteContext: 'strict' | 'lax', init: RequestInit): Promise<Response> {
    const cookie = await jar.getCookieString(url.href, { sameSiteContext })
    const headers = { accept: 'text/html', ...(init.headers as Record<string, string>), ...(cookie ? { cookie } : {}) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) await jar.setCookie(set, url.href, { sameSiteContext })
    return response
  }

  /** Opens an address that a person typed, or that a page of the same site links. */
  async function visit(address: string | URL, { until, method = 'GET', form }: VisitOptions = {}): Promise<Visited> {
    let url = new URL(address)
    let init: RequestInit = form === undefined ? { method } : { method: 'POST', body: new URLSearchParams(form) }
    const way: string[] = []
    const sites = new Set<string>()
    while (way.length < MAX_REDIRECTS) {
      way.push(url.href)
      if (until?.(url)) return { url, status: 0, body: '', way }
      sites.add(siteOf(url))
      const response = await send(url, sites.size === 1 ? 'strict' : 'lax', init)
      const location = response.headers.get('location')
      if (location === null) return { url, status: response.status, body: await response.text(), way }
      await response.body?.cancel()
      url = new URL(location, url)
      init = { method: 'GET' }
    }
    throw new Error(`too many redirects: ${way.join(' ')}`)
  }

  return {
    jar,
    visit,
    /** A call of a script of a page of the same site. */
    call: (address: string | URL, init: RequestInit = {}) => send(new URL(address), 'strict', init),
    /** Visits an address, and logs in where the test provider asks for it. */
    async logIn(
      address: string | URL,
      user: { username: string; password: string },
      options: Pick<VisitOptions, 'until'> = {},
    ): Promise<Visited> {
      const page = await visit(address, options)
      if (!page.url.pathname.startsWith('/interaction/')) return page
      const after = await visit(page.url, {
        ...options,
        form: { username: user.username, password: user.password },
      })
      return { ...after, way: [...page.way, ...after.way] }
    },
  }
}

export type Browser = ReturnType<typeof openBrowser>
