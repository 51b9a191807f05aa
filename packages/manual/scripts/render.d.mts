export function addressOf(page: string): string
export function resolveLink(
  href: string,
  pages: ReadonlySet<string>,
): { address: string; file?: undefined } | { address?: undefined; file: string }
export function renderPage(markdown: string, pages: ReadonlySet<string>): { title: string; html: string }
