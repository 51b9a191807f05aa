import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { addressOf, renderPage, resolveLink } from '../scripts/render.mjs'

const pages = new Set(['README', 'cli', 'now'])

test.each([
  ['cli.md#log-in', { address: '/docs/cli#log-in' }],
  ['README.md', { address: '/docs' }],
  ['#here', { address: '#here' }],
  ['https://example.com/a.md', { address: 'https://example.com/a.md' }],
  ['images/now.png', { address: '/docs/images/now.png' }],
  ['../examples/storefront/README.md', { file: 'examples/storefront/README.md' }],
  ['decisions/0001-x.md', { file: 'docs/decisions/0001-x.md' }],
  ['unknown.md', { file: 'docs/unknown.md' }],
])('a link to %s leads to %j', (link, expected) => {
  expect(resolveLink(link, pages)).toEqual(expected)
})

test('a page has a title, anchors as on GitHub, and code as it was written', () => {
  const text =
    '# A <b> page\n\n## Who may\n\n```sh\necho "<a>" && true\n```\n\n| a | b |\n| - | - |\n| `x` | [c](cli.md) |\n'
  const { title, html } = renderPage(text, pages)
  expect(title).toContain('page')
  expect(html).toContain('<h2 id="who-may">Who may</h2>')
  expect(html).toContain('echo &quot;&lt;a&gt;&quot; &amp;&amp; true')
  expect(html).toContain('<td><code>x</code></td><td><a href="/docs/cli">c</a></td>')
})

test('every link between the pages of docs leads to a heading that is there', () => {
  const docs = path.resolve(import.meta.dirname, '../../../docs')
  const names = readdirSync(docs).flatMap((file) => (file.endsWith('.md') ? [file.slice(0, -'.md'.length)] : []))
  const known = new Set(names)
  const rendered = names.map((name) => ({
    name,
    html: renderPage(readFileSync(path.join(docs, `${name}.md`), 'utf8'), known).html,
  }))
  const anchors = new Set(
    rendered.flatMap(({ name, html }) => [
      addressOf(name),
      ...[...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => `${addressOf(name)}#${id}`),
    ]),
  )
  const links = rendered.flatMap(({ html }) =>
    [...html.matchAll(/href="(\/docs\/?[^"]*)"/g)].map(([, link = '']) => link),
  )
  const others = new Set(['/docs/manual.css', '/docs/reference'])
  expect(links.length).toBeGreaterThan(200)
  expect([...new Set(links)].filter((link) => !anchors.has(link) && !others.has(link))).toEqual([])
})
