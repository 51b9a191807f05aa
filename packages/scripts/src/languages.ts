import type { Encoding } from '@slipway/domain'
import type { Node } from 'web-tree-sitter'
import type { Found } from './found.ts'
import type { Placeholder } from './placeholders.ts'
import { isBehindBackslash, isSame, type Rules } from './tree.ts'

interface LanguageContext {
  /** Why no value may stand here. */
  refused: string | null
}

const NO_EXPRESSION = 'stands where neither a string nor a value is; read it from the environment: SLIPWAY_VAR_…'
const CODE = 'is evaluated there; read it from the environment: SLIPWAY_VAR_…'
const RAW = 'stands in a literal that knows no escapes; use an ordinary string'

/** Finds places by the innermost node, unless a node around it is refused. */
function rulesOf(
  found: Found,
  refusedIn: (parent: Node, child: Node) => string | null,
  encodingOf: (node: Node, placeholder: Placeholder) => Encoding | { refused: string } | null,
): Rules<LanguageContext> {
  return {
    start: { refused: null },
    enter: (context, parent, child) => {
      const refused = context.refused ?? refusedIn(parent, child)
      return refused === context.refused ? context : { refused }
    },
    found(context, node, placeholder) {
      if (node.type === 'comment') return
      const encoding = context.refused === null ? encodingOf(node, placeholder) : { refused: context.refused }
      if (typeof encoding === 'string') found.place(placeholder, encoding)
      else found.refuse(placeholder, encoding?.refused ?? NO_EXPRESSION)
    },
  }
}

/** Whether the value would become a part of an escape sequence. */
const isEscaped = (script: string, { start }: Placeholder) =>
  isBehindBackslash(script, start) || /\\[xNuU]\{?[\w ]{0,8}$/.test(script.slice(Math.max(0, start - 12), start))
const isWhole = (node: Node, { start, end }: Placeholder) => node.startIndex === start && node.endIndex === end
/** A list of words that starts a shell with code, such as `["sh", "-c", …]`. */
const STARTS_SHELL =
  /['"`](\/[\w/]*\/)?(sh|bash|dash|zsh|ksh|python3?|node|perl|ruby)['"`][\s\S]*['"`]-{1,2}[a-z]*[ce][a-z]*['"`]/
const lastName = (callee: string) => /([A-Za-z_$][\w$]*)[^\w$]*$/.exec(callee)?.[1] ?? ''
/** What a call names, without its own arguments: the work for a chain of calls stays linear. */
const MAX_CALLEE = 512
const calleeOf = (call: Node, field: string): string => {
  const node = call.childForFieldName(field)
  return node === null || node.endIndex - node.startIndex > MAX_CALLEE ? '' : node.text
}

/** The functions of Python that run their argument as code, whatever module they are taken from. */
const PYTHON_CODE = new Set(
  'eval exec compile __import__ execfile getattr setattr timeit repeat system popen getoutput getstatusoutput create_subprocess_shell runpy run_path'.split(
    ' ',
  ),
)
const PYTHON_PROCESS =
  /^(run|call|Popen|check_call|check_output|create_subprocess_exec|subprocess_exec|exec[lv]\w*|spawn\w*|posix_spawn\w*)$/
/** Nodes in which an identifier is the value of an expression. */
const PYTHON_VALUES = new Set(
  'argument_list binary_operator boolean_operator comparison_operator conditional_expression list tuple set parenthesized_expression not_operator return_statement assert_statement expression_list named_expression await unary_operator list_splat dictionary_splat slice'.split(
    ' ',
  ),
)

export function pythonRules(script: string, found: Found): Rules<LanguageContext> {
  const isValue = (node: Node): boolean => {
    const parent = node.parent
    if (parent === null) return false
    if (PYTHON_VALUES.has(parent.type)) return true
    const is = (field: string) => isSame(node, parent.childForFieldName(field))
    if (parent.type === 'assignment' || parent.type === 'augmented_assignment') return is('right')
    if (['keyword_argument', 'pair', 'default_parameter', 'typed_default_parameter'].includes(parent.type))
      return is('value')
    if (parent.type === 'subscript') return is('value') || is('subscript')
    if (parent.type === 'attribute') return is('object')
    if (parent.type === 'for_statement' || parent.type === 'for_in_clause') return is('right')
    if (parent.type === 'match_statement') return is('subject')
    return ['if_statement', 'elif_clause', 'while_statement'].includes(parent.type) && is('condition')
  }
  const refusedIn = (parent: Node, child: Node): string | null => {
    if (parent.type === 'interpolation')
      return 'stands in the interpolation of an f-string; name it outside of the string'
    if (parent.type !== 'call' || child.type !== 'argument_list') return null
    const name = lastName(calleeOf(parent, 'function'))
    if (PYTHON_CODE.has(name)) return `is evaluated by ${name}(); ${CODE}`
    if (!PYTHON_PROCESS.test(name)) return null
    const text = script.slice(child.startIndex, child.endIndex)
    const startsShell = /shell\s*=\s*(?!False\b)/.test(text) || text.includes('**') || STARTS_SHELL.test(text)
    return startsShell ? `is evaluated by the shell that ${name}() starts; hand over a list of words` : null
  }
  return rulesOf(found, refusedIn, (node, placeholder) => {
    if (node.type === 'identifier') return isWhole(node, placeholder) && isValue(node) ? 'python-value' : null
    const string = node.type === 'string_content' ? node.parent : node.type === 'string' ? node : null
    if (string === null) return null
    const prefix = (string.firstNamedChild?.text ?? '').replace(/['"]/g, '').toLowerCase()
    if (prefix.includes('r')) return { refused: RAW }
    if (prefix.includes('t')) return { refused: CODE }
    if (isEscaped(script, placeholder)) return { refused: 'stands behind a backslash' }
    return prefix.includes('b') ? 'python-bytes' : 'python-string'
  })
}

/** Functions that run an argument as code, wherever they stand in the name of what is called. */
const NODE_CODE =
  /\b(eval|Function|execSync|exec|require|import|runInThisContext|runInNewContext|runInContext|compileFunction|Script|Worker|constructor|construct)\b/
/** Modules whose functions run no code. A member of them that does is found by its own name. */
const NODE_DATA =
  /\brequire\(\s*(['"])(node:)?(path|fs|fs\/promises|os|util|url|crypto|http|https|querystring|assert|net|dns|zlib)\1\s*\)(?=\s*\.)/
const NODE_PROCESS = /\b(spawn|spawnSync|execFile|execFileSync|fork)\b/
const NODE_TIMER = /^(setTimeout|setInterval|setImmediate)$/
const NODE_VALUES = new Set(
  'arguments array parenthesized_expression binary_expression ternary_expression return_statement unary_expression await_expression sequence_expression spread_element'.split(
    ' ',
  ),
)

export function nodeRules(script: string, found: Found): Rules<LanguageContext> {
  const isValue = (node: Node): boolean => {
    const parent = node.parent
    if (parent === null) return false
    if (NODE_VALUES.has(parent.type)) return parent.type !== 'unary_expression' || !/^(delete|typeof)/.test(parent.text)
    const is = (field: string) => isSame(node, parent.childForFieldName(field))
    if (parent.type === 'variable_declarator' || parent.type === 'pair' || parent.type === 'field_definition')
      return is('value')
    if (parent.type === 'assignment_expression' || parent.type === 'augmented_assignment_expression') return is('right')
    if (parent.type === 'subscript_expression') return is('object') || is('index')
    if (parent.type === 'member_expression') return is('object')
    if (parent.type === 'for_in_statement') return is('right')
    return parent.type === 'arrow_function' && is('body')
  }
  const refusedIn = (parent: Node, child: Node): string | null => {
    if (parent.type === 'template_substitution')
      return 'stands in the interpolation of a template string; name it outside of the string'
    if (parent.type === 'regex') return 'would be a regular expression there'
    if (parent.type === 'import_statement') return 'would be the name of a module'
    if (parent.type !== 'call_expression' && parent.type !== 'new_expression') return null
    if (child.type === 'template_string') return 'stands in a tagged template string; use an ordinary string'
    if (child.type !== 'arguments') return null
    const callee = parent.childForFieldName('function') ?? parent.childForFieldName('constructor')
    // `/…/.exec()` only compares.
    if (callee?.childForFieldName('object')?.type === 'regex') return null
    const name = (calleeOf(parent, 'function') || calleeOf(parent, 'constructor')).replace(NODE_DATA, '')
    const text = script.slice(child.startIndex, child.endIndex)
    if (NODE_CODE.test(name)) return `is evaluated by ${name}(); ${CODE}`
    if (NODE_TIMER.test(name) && !/^\(\s*(async\s*)?(\(|function\b|\w+\s*[,)=])/.test(text))
      return `is evaluated by ${name}(); ${CODE}`
    if (!NODE_PROCESS.test(name)) return null
    return /\bshell\b/.test(text) || STARTS_SHELL.test(text)
      ? `is evaluated by the shell that ${name}() starts; hand over a list of words`
      : null
  }
  return rulesOf(found, refusedIn, (node, placeholder) => {
    if (node.type === 'identifier') return isWhole(node, placeholder) && isValue(node) ? 'node-value' : null
    if (!['string_fragment', 'string', 'template_string'].includes(node.type)) return null
    return isEscaped(script, placeholder) ? { refused: 'stands behind a backslash' } : 'node-string'
  })
}

const PWSH_CODE =
  /^(iex|invoke-expression|invoke-command|icm|pwsh|powershell|cmd|sh|bash|start-process|add-type|\.|&)(\.exe)?$/i

/** Templates are `${word}` in the text that the grammar reads. */
export function pwshRules(_script: string, found: Found): Rules<LanguageContext> {
  const refusedIn = (parent: Node): string | null => {
    if (/here_string/.test(parent.type)) return RAW
    if (parent.type === 'left_assignment_expression' || parent.type === 'param_block') return NO_EXPRESSION
    if (parent.type === 'sub_expression')
      return 'stands in the interpolation of a string; name it outside of the string'
    if (parent.type !== 'command') return null
    const name = parent.childForFieldName('command_name')?.text ?? parent.namedChild(0)?.text ?? ''
    return PWSH_CODE.test(name) ? `is evaluated by ${name}; ${CODE}` : null
  }
  return rulesOf(found, refusedIn, (node, placeholder) => {
    if (node.type === 'verbatim_string_characters' || node.type === 'verbatim_string_literal') return 'pwsh-verbatim'
    const variable = node.type === 'variable' || node.type === 'braced_variable' ? node : node.parent
    if (variable === null || !/variable$/.test(variable.type)) return null
    const place =
      variable.type === 'braced_variable' && variable.parent?.type === 'variable' ? variable.parent : variable
    if (!isWhole(place, placeholder)) return null
    const around = place.parent?.type ?? ''
    if (around === 'expandable_string_literal') return 'pwsh-string'
    return around === 'unary_expression' && place.parent?.namedChildCount === 1 ? 'pwsh-value' : null
  })
}
