import type { Encoding, LiteralDocument } from '@slipway/domain'
import type { Node } from 'web-tree-sitter'
import type { Found } from './found.ts'
import type { Placeholder } from './placeholders.ts'
import {
  type CommandWords,
  commandWords,
  EVALUATED_NAMES,
  readsItsInput,
  runsItsInput,
  useOf,
} from './shell-commands.ts'
import { readDeclarations } from './shell-declarations.ts'
import { isBehindBackslash, isSame, type Rules } from './tree.ts'

/** What the nodes around a template say about it. */
interface ShellContext {
  /** Why no value may stand here. */
  refused: string | null
  only: 'integer' | 'number' | null
  /** What surrounds the innermost text: nothing, double quotes, or a here-document. */
  quoting: 'none' | 'double' | 'document'
  isBacktick: boolean
  warning: string | null
  /** Where the name in `NAME=value`, an argument of `env`, ends. */
  nameEnds: number
  /** The value must end before this position: behind it stands the name of a program, after a slash. */
  folderEnds: number
  /** Whether the nearest test is `[[`, which evaluates. */
  isConditional: boolean
}

const START: ShellContext = {
  refused: null,
  only: null,
  quoting: 'none',
  isBacktick: false,
  warning: null,
  nameEnds: 0,
  folderEnds: Number.POSITIVE_INFINITY,
  isConditional: false,
}

/** Nodes that only group commands or words. All nodes that no rule names are refused. */
const GROUPS = new Set(
  'program list subshell if_statement elif_clause else_clause while_statement do_group negated_command variable_assignments'.split(
    ' ',
  ),
)
const ARITHMETIC = 'is evaluated as arithmetic there; declare a variable of type number'
const ONE_WORD =
  'the value is one word, so the loop runs once; for the words in it, write $SLIPWAY_VAR_… without quotes'
const PATTERN = 'would be a pattern there; write "$SLIPWAY_VAR_…" in its place, with the quotes'
const NAME = 'would be a name there; write the name into the script'
const IN_BRACES = 'stands in braces that the shell expands; write the words one by one, or numbers with $(seq …)'
const UNKNOWN = 'stands where no value can be inserted; use "$SLIPWAY_VAR_…" in a command of its own'

/** The rules of sh and bash. `sh` has only what every POSIX shell knows. */
export function shellRules(script: string, isBash: boolean, found: Found, root: Node): Rules<ShellContext> {
  const { integers, arrays, risky, exportsFunctions, refused } = readDeclarations(script, root)
  const start: ShellContext = { ...START, refused }
  const known = new Map<string, unknown>()
  /** Computes once for each node, so that the work stays linear. */
  const once = <T>(what: string, { startIndex, endIndex }: Node, compute: () => T): T => {
    const key = `${what} ${startIndex} ${endIndex}`
    if (!known.has(key)) known.set(key, compute())
    return known.get(key) as T
  }
  const startsWith = (node: Node, text: string) => script.startsWith(text, node.startIndex)
  const commands = new Map<number, CommandWords>()
  const wordsOf = (command: Node): CommandWords => {
    const known = commands.get(command.startIndex) ?? commandWords(command)
    commands.set(command.startIndex, known)
    return known
  }

  const refuse = (context: ShellContext, reason: string): ShellContext => ({
    ...context,
    refused: context.refused ?? reason,
  })
  const onlyBash = (context: ShellContext): ShellContext =>
    isBash ? context : refuse(context, 'stands in syntax that sh does not know; set `interpreter: bash`')
  const integer = (context: ShellContext): ShellContext => ({ ...context, only: 'integer' })

  function enter(context: ShellContext, parent: Node, child: Node): ShellContext {
    const { type } = parent
    if (GROUPS.has(type)) return context
    const rule = ENTER[type]
    return rule === undefined ? refuse(context, UNKNOWN) : rule(context, parent, child)
  }

  const inPipeline = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    const { shell, other } = once('pipeline', parent, () => {
      const commands = parent.namedChildren.filter((node) => node !== null)
      const reader = commands.findLast((node) => node.type === 'command' && readsItsInput(node))
      return {
        shell: commands.findLast(startsShell)?.startIndex ?? -1,
        other: reader === undefined ? null : { at: reader.startIndex, warning: warningOf(reader) },
      }
    })
    if (shell > child.startIndex) {
      return refuse(context, 'is evaluated by the shell at the end of the pipe; hand it over as an argument')
    }
    return other !== null && other.at > child.startIndex ? { ...context, warning: other.warning } : context
  }

  /** Whether a node starts a shell that runs its standard input. */
  function startsShell(node: Node | null): boolean {
    if (node === null) return false
    if (node.type === 'command') return runsItsInput(node) || risky.has(wordsOf(node).name ?? '')
    if (!PASS_INPUT.has(node.type)) return false
    return node.namedChildren.some(startsShell)
  }

  const warningOf = (command: Node) =>
    `\`${wordsOf(command).name}\` evaluates its input once more: the value is data for the shell only`

  const inRedirect = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    if (!INPUTS.has(child.type)) return context
    const body = parent.childForFieldName('body')
    if (once('input', parent, () => startsShell(body))) {
      return refuse(context, 'is evaluated by the shell that reads it; hand it over as an argument')
    }
    if (body?.type === 'command' && readsItsInput(body)) return { ...context, warning: warningOf(body) }
    return context
  }

  /** A value that is assigned to this name. */
  const assigned = (context: ShellContext, name: string): ShellContext => {
    if (EVALUATED_NAMES.has(name))
      return refuse(context, `would be evaluated: a shell runs or splits by what ${name} holds`)
    return integers.has(name) ? integer(context) : context
  }
  const nameAt = (node: Node) =>
    /^[A-Za-z_][A-Za-z0-9_]*/.exec(script.slice(node.startIndex, node.startIndex + 256))?.[0] ?? ''

  const inAssignment = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    if (child.type === 'subscript') return context
    if (child.type === 'variable_name') return refuse(context, NAME)
    return assigned(context, nameAt(parent))
  }

  const inCommand = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    if (child.type === 'variable_assignment' || child.type === 'file_redirect') return context
    if (child.type === 'herestring_redirect') {
      return once('input', parent, () => runsItsInput(parent))
        ? refuse(context, 'is evaluated by the shell that reads it; hand it over as an argument')
        : context
    }
    const text = script.slice(child.startIndex, child.endIndex)
    const words = wordsOf(parent)
    if (risky.has(words.name ?? ''))
      return refuse(context, 'is handed to a function that runs code; use "$SLIPWAY_VAR_…" in it')
    const use = useOf(words, child.startIndex, text)
    if (use.kind === 'refused') return refuse(context, use.reason)
    if (use.kind === 'number') return { ...context, only: context.only ?? 'number' }
    if (use.kind === 'folder') {
      const slash = text.replace(/["']$/, '').lastIndexOf('/')
      const name = text.slice(slash + 1).replace(/["']/g, '')
      const isProgram = slash > 0 && /^[\w.+-]+$/.test(name)
      return isProgram ? { ...context, folderEnds: child.startIndex + slash } : refuse(context, use.reason)
    }
    const equals = text.indexOf('=')
    const nameEnds = equals < 0 || words.program === 0 ? context.nameEnds : child.startIndex + equals
    return { ...context, nameEnds, warning: use.warning ?? context.warning }
  }

  const inDeclaration = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    if (child.type !== 'variable_assignment') return refuse(context, NAME)
    const isPlain = once('options', parent, () => {
      const options = parent.namedChildren.filter((node) => node?.type === 'word' && /^[-+]/.test(node.text))
      return options.every((node) => /^-[gxr]+$/.test(node?.text ?? ''))
    })
    const isArray =
      arrays.has(nameAt(child)) && !/^(export|readonly)\b/.test(script.slice(parent.startIndex, parent.startIndex + 9))
    return isPlain && !isArray
      ? context
      : refuse(context, 'is evaluated by this declaration; assign it in a command of its own')
  }

  const inExpansion = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    if (child.type === 'subscript') return context
    const text = script.slice(parent.startIndex, parent.endIndex)
    if (text.includes('`') || text.startsWith('${!')) return refuse(context, UNKNOWN)
    const previous = child.previousSibling
    const operator = previous?.isNamed ? previous.previousSibling?.type : previous?.type
    if (operator === ':' && isAfterParameter(parent, child)) return onlyBash(integer(context))
    const isDefault = operator !== undefined && /^:?[-=+?]$/.test(operator) && isAfterParameter(parent, child)
    if (!isDefault) return refuse(context, isAfterParameter(parent, child) ? PATTERN : NAME)
    if (child.type === 'string' && context.quoting !== 'none') return refuse(context, UNKNOWN)
    const name = /[A-Za-z_][A-Za-z0-9_]*/.exec(text)?.[0] ?? ''
    return operator.endsWith('=') && (integers.has(name) || EVALUATED_NAMES.has(name))
      ? refuse(context, ARITHMETIC)
      : context
  }

  const inSubstitution = (context: ShellContext, parent: Node): ShellContext => {
    const isBacktick = startsWith(parent, '`')
    const hasBackslash = isBacktick && script.slice(parent.startIndex, parent.endIndex).includes('\\')
    if (isBacktick && (context.quoting !== 'none' || context.isBacktick || hasBackslash)) {
      return refuse(context, 'stands in backticks inside of quotes; write $( … ) instead')
    }
    return { ...context, quoting: 'none', isBacktick: context.isBacktick || isBacktick }
  }

  const inTest = (context: ShellContext, parent: Node): ShellContext => {
    const isConditional = startsWith(parent, '[[')
    return { ...(isConditional ? onlyBash(context) : context), isConditional }
  }

  const inComparison = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    if (context.only === 'integer') return context
    const operator = once('operator', parent, () => operatorOf(parent))
    if (operator === '=~')
      return isSame(child, parent.firstNamedChild)
        ? context
        : refuse(context, 'would be a regular expression there; write $SLIPWAY_VAR_… without quotes')
    if (/^-(eq|ne|lt|le|gt|ge)$/.test(operator)) return context.isConditional ? integer(context) : context
    return COMPARISONS.has(operator) ? context : refuse(context, UNKNOWN)
  }

  const inUnaryTest = (context: ShellContext, parent: Node): ShellContext => {
    if (context.only === 'integer') return context
    const operator = once('unary', parent, () => operatorOf(parent))
    if (operator === '-v' || operator === '-R')
      return refuse(context, `would be a name for ${operator}; write the name into the script`)
    return operator === '!' || /^-[abcdefghkLnpOrsSuGNwxz]$/.test(operator) ? context : refuse(context, UNKNOWN)
  }

  const inCompound = (context: ShellContext, parent: Node): ShellContext =>
    startsWith(parent, '((') ? onlyBash(integer(context)) : context

  const inFor = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    if (child.type === 'variable_name') return refuse(context, NAME)
    if (child.type === 'do_group' || child.type === 'compound_statement') return context
    const name = parent.childForFieldName('variable')?.text ?? ''
    const isAlone = child.type === 'word' && parent.childrenForFieldName('value').length === 1
    const warning = isAlone ? ONE_WORD : context.warning
    return { ...assigned(startsWith(parent, 'select') ? onlyBash(context) : context, name), warning }
  }

  const inConcatenation = (context: ShellContext, parent: Node, child: Node): ShellContext => {
    const braces = once('braces', parent, () => bracesOf(parent))
    return braces.some(({ start, end }) => start < child.startIndex && child.startIndex < end)
      ? refuse(context, IN_BRACES)
      : context
  }

  const inArray = (context: ShellContext, parent: Node): ShellContext =>
    once('subscripts', parent, () => /[\s(]\[/.test(script.slice(parent.startIndex, parent.endIndex)))
      ? refuse(context, 'stands in a list with subscripts; assign the elements one by one')
      : onlyBash(context)

  const inFile = (context: ShellContext, parent: Node): ShellContext =>
    /^\d*[<>]&/.test(script.slice(parent.startIndex, parent.startIndex + 8))
      ? refuse(context, 'stands behind >&, which expands it twice; write > FILE 2>&1')
      : context

  const same = (context: ShellContext) => context
  const ENTER: Record<string, (context: ShellContext, parent: Node, child: Node) => ShellContext> = {
    pipeline: inPipeline,
    redirected_statement: inRedirect,
    compound_statement: inCompound,
    function_definition: (context, parent, child) =>
      !isSame(child, parent.childForFieldName('body'))
        ? refuse(context, NAME)
        : exportsFunctions
          ? refuse(context, 'stands in a function that is exported, where the value is missing; use "$SLIPWAY_VAR_…"')
          : context,
    for_statement: inFor,
    c_style_for_statement: (context, parent, child) =>
      isSame(child, parent.childForFieldName('body')) ? context : onlyBash(integer(context)),
    case_statement: same,
    case_item: same,
    command: inCommand,
    command_name: same,
    declaration_command: inDeclaration,
    variable_assignment: inAssignment,
    array: inArray,
    subscript: (context, _parent, child) =>
      child.previousSibling?.type === '[' ? onlyBash(integer(context)) : refuse(context, NAME),
    expansion: inExpansion,
    command_substitution: inSubstitution,
    process_substitution: (context) => onlyBash({ ...context, quoting: 'none' }),
    arithmetic_expansion: (context, parent) =>
      startsWith(parent, '$[') ? onlyBash(integer(context)) : integer(context),
    parenthesized_expression: same,
    ternary_expression: same,
    postfix_expression: same,
    test_command: inTest,
    binary_expression: inComparison,
    unary_expression: inUnaryTest,
    concatenation: inConcatenation,
    string: (context, parent) =>
      parent.previousSibling?.type === '$' && parent.previousSibling.endIndex === parent.startIndex
        ? refuse(context, 'stands in a string that the shell translates; leave out the $')
        : { ...context, quoting: 'double' },
    file_redirect: inFile,
    herestring_redirect: (context) => onlyBash(context),
    heredoc_redirect: inDocument,
    heredoc_body: (context) => ({ ...context, quoting: 'document' }),
  }

  function inDocument(context: ShellContext, parent: Node, child: Node): ShellContext {
    if (child.type === 'pipeline') return context
    if (child.type === 'file_redirect') return context
    if (child.type !== 'heredoc_body') return refuse(context, UNKNOWN)
    // The grammar takes a first line that begins with a backslash for words of the command.
    const opening = documentStart(child)?.endIndex ?? 0
    if (!/^[^\n\\]*\n[\n\t]*$/.test(script.slice(opening, child.startIndex))) return refuse(context, UNKNOWN)
    if (!isLiteralDocument(child) && once('backtick', child, () => /(^|[^\\])`/.test(child.text))) {
      return refuse(context, 'stands in a here-document with backticks; write $( … ) instead')
    }
    const behind = parent.namedChildren.filter((node) => node !== null && node.startIndex < child.startIndex)
    if (behind.some(startsShell))
      return refuse(context, 'is evaluated by the shell at the end of the pipe; hand it over as an argument')
    return { ...context, quoting: 'document' }
  }

  function place(context: ShellContext, node: Node, placeholder: Placeholder): void {
    const { refused, only, warning } = context
    if (node.type === 'comment') return
    const reason = refused ?? positionProblem(node, placeholder, context)
    const encoding = encodingOf(node, context)
    if (reason !== null || encoding === null) {
      found.refuse(placeholder, reason ?? UNKNOWN)
      return
    }
    if (warning !== null) found.warn(placeholder, warning)
    found.place(placeholder, encoding, only)
  }

  function positionProblem(
    node: Node,
    { start, end }: Placeholder,
    { nameEnds, folderEnds, only }: ShellContext,
  ): string | null {
    if (start < nameEnds) return NAME
    if (end > folderEnds) return 'would name the program to run; write the program into the script'
    const isRaw = node.type === 'raw_string' || isLiteralDocument(node)
    if (!isRaw && isBehindBackslash(script, start)) return 'stands behind a backslash; leave it out'
    if (node.type === 'word' && /^~[^/]*$/.test(script.slice(node.startIndex, start)))
      return 'stands behind ~, which is not expanded with a value; write the folder with a slash'
    if (
      only !== 'integer' &&
      node.type === 'word' &&
      /[{}]/.test(script.slice(node.startIndex, node.endIndex).replaceAll('{{', '').replaceAll('}}', ''))
    ) {
      return IN_BRACES
    }
    return null
  }

  function encodingOf(node: Node, { quoting, only, isBacktick }: ShellContext): Encoding | null {
    const { type } = node
    if (type === 'raw_string') return quoting === 'none' ? 'shell-single' : null
    if (type === 'ansi_c_string') return isBash && quoting === 'none' ? 'shell-ansi' : null
    if (type === 'string_content' || type === 'heredoc_content') return 'shell-quoted'
    if (type === 'string') return 'shell-quoted'
    if (type === 'heredoc_body') return isLiteralDocument(node) ? documentEncoding(node, isBacktick) : 'shell-quoted'
    if (only === 'integer' && ARITHMETIC_LEAVES.has(type)) return 'shell-quoted'
    if (type === 'word') return quoting === 'none' ? 'shell-word' : 'shell-quoted'
    if (type === 'extglob_pattern') return isPlainPattern(node) ? 'shell-word' : null
    return null
  }

  const isPlainPattern = (node: Node) => /^[A-Za-z0-9_.*?/@:-]+$/.test(node.text)

  function documentEncoding(body: Node, isBacktick: boolean): Encoding | null {
    if (isBacktick) return null
    const [opening, closing] = [documentStart(body), documentEnd(body)]
    if (opening === null || closing === null) return null
    const word = opening.text.replace(/['"\\]/g, '')
    if (script.slice(closing.endIndex - word.length, closing.endIndex) !== word) return null
    const isSimple = /^[A-Za-z0-9_]+$/.test(word)
    const document: LiteralDocument = {
      body: { start: body.startIndex, end: body.endIndex },
      opening: { start: opening.startIndex, end: opening.endIndex },
      closing: { start: closing.endIndex - word.length, end: closing.endIndex },
      delimiter: isSimple ? word : found.unusedDelimiter(),
    }
    found.literalDocument(document)
    return 'shell-quoted'
  }

  return { start, enter, found: place }
}

const INPUTS = new Set(['heredoc_redirect', 'herestring_redirect', 'file_redirect'])
/** Nodes whose commands read the input of the whole. */
const PASS_INPUT = new Set(
  'pipeline list subshell compound_statement redirected_statement negated_command if_statement elif_clause else_clause while_statement for_statement do_group case_statement case_item function_definition'.split(
    ' ',
  ),
)
const COMPARISONS = new Set(['=', '==', '!=', '<', '>', '&&', '||', '-a', '-o', '-nt', '-ot', '-ef'])
const ARITHMETIC_LEAVES = new Set(['word', 'variable_name', 'number', 'extglob_pattern'])

/** Where each group of braces in a word begins and ends. One that stays open reaches to the end of the word. */
function bracesOf(concatenation: Node): { start: number; end: number }[] {
  const groups: { start: number; end: number }[] = []
  let [depth, start] = [0, 0]
  for (const node of concatenation.namedChildren) {
    if (node?.type !== 'word') continue
    for (const { 0: brace, index } of node.text.matchAll(/[{}]/g)) {
      const at = node.startIndex + index
      if (brace === '{') {
        if (depth === 0) start = at
        depth += 1
      } else if (depth > 0) {
        depth -= 1
        if (depth === 0) groups.push({ start, end: at })
      }
    }
  }
  if (depth > 0) groups.push({ start, end: concatenation.endIndex })
  return groups
}

const operatorOf = (node: Node): string =>
  node.childForFieldName('operator')?.text ??
  node.children.find((child) => child !== null && (!child.isNamed || child.type === 'test_operator'))?.text ??
  ''

const isAfterParameter = (expansion: Node, child: Node): boolean =>
  expansion.namedChildren.some((node) => node !== null && node.endIndex <= child.startIndex)

const documentStart = (body: Node): Node | null =>
  body.parent?.namedChildren.find((node) => node?.type === 'heredoc_start') ?? null
const documentEnd = (body: Node): Node | null =>
  body.parent?.namedChildren.find((node) => node?.type === 'heredoc_end') ?? null

const isLiteralDocument = (node: Node): boolean =>
  node.type === 'heredoc_body' && /['"\\]/.test(documentStart(node)?.text ?? '')
