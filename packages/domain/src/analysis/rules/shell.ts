import { type Rule, rulesOf } from '../rule.ts'

export const SHELL: readonly Rule[] = rulesOf('shell', [
  {
    id: 'command-not-found',
    hints: ['not found'],
    pattern:
      /(?<what>[^\s:$']{1,200}): command not found$|: \d+: (?<what2>[^\s:$']{1,200}): not found$|^(?:ba|a|)sh: (?<what3>[^\s:$']{1,200}): not found$/,
    confidence: 0.96,
    title: 'The command {what} was not found',
    cause: 'It is not installed on the target, or it is not in the PATH of the script.',
    remediation: [
      'Install the package that has it in an earlier action',
      'Call it by its whole path, or set PATH in env; check the spelling',
    ],
  },
  {
    id: 'bad-interpreter',
    hints: ['bad interpreter', 'not found', 'cannot execute: required file not found'],
    pattern: /(?<what>[^\s:]{1,200}): bad interpreter|cannot execute: required file not found/,
    confidence: 0.95,
    title: 'The interpreter in the first line of a script does not exist',
    cause: 'The program after #! is not installed at that path, or the line ends in a carriage return (Windows).',
    remediation: [
      'Install the interpreter, or use `#!/usr/bin/env NAME`',
      'Remove carriage returns: `sed -i "s/\\r$//" FILE`',
    ],
  },
  {
    id: 'carriage-returns',
    hints: ["\\r'", ': not found', '^m'],
    pattern: /\\r'|^: not found$|\^M\b/,
    confidence: 0.97,
    title: 'A script has lines that end in carriage returns',
    cause:
      'The script was saved with Windows line ends, and shells read the carriage return as a part of each command.',
    remediation: ['Save it with LF line ends, or convert it: `sed -i "s/\\r$//" FILE`'],
  },
  {
    id: 'shell-syntax',
    distinct: true,
    hints: ['syntax error', 'unterminated quoted string', 'unexpected eof', 'unexpected end of file'],
    pattern:
      /syntax error(?::| near)|unterminated quoted string|unexpected EOF while looking for|unexpected end of file/i,
    confidence: 0.92,
    title: 'The shell does not understand the script',
    cause: 'A quote, bracket, `then`, `do`, `fi` or `done` is missing, or the script needs another shell.',
    remediation: [
      'Check it before publishing: `sh -n SCRIPT` or `bash -n SCRIPT`',
      'Where it uses arrays, `[[ ]]` or `<( )`, set its interpreter to bash',
    ],
  },
  {
    id: 'unset-variable',
    hints: ['unbound variable', 'parameter not set'],
    pattern: /(?<what>\w{1,100}): (?:unbound variable|parameter not set)/,
    confidence: 0.94,
    title: 'The variable {what} is used and not set',
    cause: 'The script uses `set -u` (or `:?`) and reads a variable that has no value.',
    remediation: [
      'Set it in env, or as a variable of the action, environment, target or request (scripts see SLIPWAY_VAR_<NAME>)',
      'If it is optional, give it a default with `:-`',
    ],
  },
  {
    id: 'bad-substitution',
    hints: ['bad substitution', 'bashism', 'not a valid identifier', '[[: not found'],
    pattern: /bad substitution|not a valid identifier|\[\[: not found/i,
    confidence: 0.97,
    title: 'The script uses a feature that its shell does not have',
    cause: 'It is written for bash and runs under sh, or a name or an expansion is misspelt.',
    remediation: ['Set the interpreter of the action to bash, or write it for sh'],
  },
  {
    id: 'illegal-number',
    hints: ['illegal number', 'integer expression expected', 'integer expected', 'division by 0'],
    pattern: /illegal number|integer expression expected|integer expected|division by 0/i,
    confidence: 0.85,
    title: 'The script uses a value that is not a number in a calculation or comparison',
    cause: 'A variable is empty or holds text instead of a number, or a divisor is 0.',
    remediation: ['Check where the value comes from; print it before it is used'],
  },
  {
    id: 'usage-error',
    distinct: true,
    hints: ['usage:', 'unrecognized option', 'invalid option', 'illegal option', 'unknown option', 'operand'],
    pattern:
      /unrecognized (?:option|argument)|invalid option|illegal option|unknown (?:option|flag)|missing (?:\w{1,20} ){0,3}operand|^usage: /i,
    confidence: 0.72,
    title: 'A program was called with options that it does not know',
    cause: 'An option is misspelt, a value is missing or empty, or the target has another version of the program.',
    remediation: ['Compare with `PROGRAM --help` on the target, and look for empty variables in the call'],
  },
])
