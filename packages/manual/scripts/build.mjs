// Writes the pages of docs as HTML into dist, unless they are newer than their sources.
import fs from 'node:fs'
import path from 'node:path'
import { renderPage } from './render.mjs'

const folder = path.dirname(import.meta.dirname)
const docs = path.resolve(folder, '../../docs')
const dist = path.join(folder, 'dist')

const images = path.join(docs, 'images')
const pages = fs.readdirSync(docs).filter((name) => name.endsWith('.md'))
const sources = [
  docs,
  ...pages.map((name) => path.join(docs, name)),
  ...fs.readdirSync(images).map((name) => path.join(images, name)),
  ...['scripts/render.mjs', 'scripts/build.mjs', 'public/manual.css'].map((name) => path.join(folder, name)),
]
const changed = (file) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
if (changed(dist) < Math.max(...sources.map(changed))) {
  // A build that is killed leaves no half of it behind.
  const temporary = `${dist}.new`
  fs.rmSync(temporary, { recursive: true, force: true })
  const names = new Set(pages.map((name) => name.slice(0, -'.md'.length)))
  const made = [...names].map((name) => [
    name,
    renderPage(fs.readFileSync(path.join(docs, `${name}.md`), 'utf8'), names),
  ])
  fs.mkdirSync(temporary)
  for (const [name, { html }] of made) fs.writeFileSync(path.join(temporary, `${name}.html`), html)
  fs.cpSync(images, path.join(temporary, 'images'), { recursive: true })
  fs.copyFileSync(path.join(folder, 'public/manual.css'), path.join(temporary, 'manual.css'))
  fs.rmSync(dist, { recursive: true, force: true })
  fs.renameSync(temporary, dist)
}
