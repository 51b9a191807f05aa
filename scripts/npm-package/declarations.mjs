import fs from 'node:fs'
import path from 'node:path'

/** The files of other packages with the types that the client's declarations import. */
const FOREIGN = {
  LogStreamMessage: 'packages/contracts/dist/streams.d.ts',
  DeploymentState: 'packages/domain/dist/states.d.ts',
  StepState: 'packages/domain/dist/states.d.ts',
}

const IMPORT = /^(import|export) (type )?(\{[^}]*\}|\*) from '([^']+)';$/gm

/** Copies the client's declarations, and those they import, into the folder. */
export function writeDeclarations(root, folder) {
  const done = new Map()
  const placeOf = (source) => {
    const [, name, rest] = /packages\/([^/]+)\/dist\/(.*)$/.exec(source)
    return path.join(folder, name === 'client' ? '' : name, rest)
  }
  const copy = (source) => {
    if (done.has(source)) return
    done.set(source, true)
    const here = path.dirname(placeOf(source))
    const importFrom = (target) => {
      copy(target)
      const relative = path.relative(here, placeOf(target)).replace(/\.d\.ts$/, '.js')
      return relative.startsWith('.') ? relative : `./${relative}`
    }
    const text = fs.readFileSync(source, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '')
    const rewritten = text.replace(IMPORT, (_, word, type = '', names, from) => {
      if (from.startsWith('.')) {
        const target = path.join(path.dirname(source), from.replace(/\.ts$/, '.d.ts'))
        return `${word} ${type}${names} from '${importFrom(target)}';`
      }
      return names
        .slice(1, -1)
        .split(',')
        .map((name) => name.trim())
        .map((name) => {
          if (FOREIGN[name] === undefined) throw new Error(`${source} imports ${name} from ${from}: add it to FOREIGN`)
          return `${word} type { ${name} } from '${importFrom(path.join(root, FOREIGN[name]))}';`
        })
        .join('\n')
    })
    fs.mkdirSync(here, { recursive: true })
    fs.writeFileSync(placeOf(source), rewritten)
  }
  copy(path.join(root, 'packages/client/dist/index.d.ts'))
}
