// Makes an HTML page of a page of docs. Links between pages lead to the addresses of the gateway; what is only in the repository
// is named by its path.
import path from 'node:path'
import GithubSlugger from 'github-slugger'
import { Marked } from 'marked'

const ROOT = '/docs'
const INDEX = 'README'

/** `cli.md` has the address /docs/cli, and the index /docs. */
export const addressOf = (page) => (page === INDEX ? ROOT : `${ROOT}/${page}`)

const escapeHtml = (text) =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign])

/** Where a link of a page leads: an address, or the path of a file that the gateway does not serve. */
export function resolveLink(href, pages) {
  if (/^([a-z]+:|#)/.test(href)) return { address: href }
  const [place, anchor] = href.split('#')
  const file = path.posix.normalize(path.posix.join('docs', place))
  const page = /^docs\/([^/]+)\.md$/.exec(file)?.[1]
  if (page !== undefined && pages.has(page)) return { address: addressOf(page) + (anchor ? `#${anchor}` : '') }
  if (/^docs\/images\/[^/]+$/.test(file)) return { address: `${ROOT}/${file.slice('docs/'.length)}` }
  return { file }
}

/**
 * @param {string} markdown the text of docs/PAGE.md
 * @param {ReadonlySet<string>} pages the names of all pages
 * @returns {{ title: string, html: string }}
 */
export function renderPage(markdown, pages) {
  const slugger = new GithubSlugger()
  const headings = []
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens)
        const text = this.parser.parseInline(tokens, this.parser.textRenderer)
        const id = slugger.slug(text)
        headings.push({ id, text, depth })
        return `<h${depth} id="${id}">${inner}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const { address, file } = resolveLink(href, pages)
        if (address !== undefined) return `<a href="${escapeHtml(address)}">${inner}</a>`
        return `${inner} <span class="file">(${escapeHtml(file)} in the repository)</span>`
      },
      image({ href, text }) {
        const { address, file } = resolveLink(href, pages)
        return `<img src="${escapeHtml(address ?? file)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      table(token) {
        const { header, rows } = token
        const row = (cells, tag) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>\n`
        const head = header.some(({ text }) => text !== '') ? `<thead>${row(header, 'th')}</thead>` : ''
        return `<div class="table"><table>${head}<tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>\n`
      },
    },
  })
  const body = marked.parse(markdown.replaceAll(/<!--.*?-->\n?/gs, ''))
  const title = headings[0]?.text ?? 'Slipway'
  const contents = headings.filter(({ depth }) => depth === 2)
  const list = contents.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join('\n')
  return { title, html: frame(title, body, contents.length > 2 ? `<ul>\n${list}\n</ul>` : '') }
}

const frame = (title, body, contents) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Slipway</title>
<link rel="stylesheet" href="${ROOT}/manual.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
</head>
<body>
<header><a href="${ROOT}">Documentation</a> <a href="${ROOT}/reference">API reference</a> <a href="/">Console</a></header>
<nav aria-label="On this page">${contents}</nav>
<main>
${body}</main>
</body>
</html>
`
