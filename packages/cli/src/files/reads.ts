import { realpathSync } from 'node:fs'
import path from 'node:path'
import { type Document, isAlias, isPair, isScalar, isSeq, type Node, visit } from 'yaml'

/** What a file set may read of this machine. A catalog may come from a stranger: its values go to the server. */
export interface ReadRules {
  /** The folder of the file set. */
  root: string
  /** Whether `!file` may leave that folder. */
  allowOutside: boolean
  /** Variables that `!env` may put into any field. */
  allowedVariables: ReadonlySet<string>
}

/** The files and the names of the environment variables that a file set read. */
export interface Reads {
  files: Set<string>
  variables: Set<string>
}

/** Whether a file is inside of the folder, also after symbolic links. Throws the errors of Node. */
export function isInside(folder: string, file: string): boolean {
  const relative = path.relative(realpathSync(folder), realpathSync(file))
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

/** A place with the value of an environment variable. */
export interface EnvironmentPlace {
  pointer: string
  variable: string
}

/** Finds every place where `!env` puts a value, also through an alias. */
export function findEnvironmentPlaces(document: Document): EnvironmentPlace[] {
  const places: EnvironmentPlace[] = []
  visit(document, {
    Node(_, node, ancestors) {
      const pointer = () => pointerTo([...ancestors, node])
      for (const variable of variablesIn(node, document)) places.push({ pointer: pointer(), variable })
    },
  })
  return places
}

function variablesIn(node: Node, document: Document): string[] {
  if (isScalar(node)) return node.tag === '!env' ? [node.source ?? ''] : []
  if (!isAlias(node)) return []
  const variables: string[] = []
  const target = node.resolve(document)
  if (target === undefined) return []
  visit(target, {
    Scalar(_, one) {
      if (one.tag === '!env') variables.push(one.source ?? '')
    },
  })
  return variables
}

function pointerTo(nodes: readonly unknown[]): string {
  const keys = nodes.flatMap((node, depth): (string | number)[] => {
    const next = nodes[depth + 1]
    if (isPair(node)) return [String(isScalar(node.key) ? node.key.value : node.key)]
    return isSeq(node) ? [node.items.indexOf(next)] : []
  })
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Whether the API never shows the value of this field of a document. The document may not be valid. */
export function isSecretField(document: unknown, pointer: string): boolean {
  const [first, second = '', third = '', fourth, ...rest] = pointer.split('/').slice(1)
  if (rest.length > 0) return false
  if (first === 'connection') return third === '' && (second === 'private_key' || second === 'password')
  if (first === 'variables') return includes(fieldOf(document, 'sensitive_variables'), second)
  const variable = fieldOf(fieldOf(fieldOf(document, 'definition'), 'variables'), third)
  return (
    first === 'definition' && second === 'variables' && fourth === 'default' && fieldOf(variable, 'sensitive') === true
  )
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
const includes = (names: unknown, name: string) => Array.isArray(names) && names.includes(name)
