import type { Rule } from './rule.ts'
import { BY_SLIPWAY } from './rules/by-slipway.ts'
import { CERTIFICATES } from './rules/certificates.ts'
import { CONTAINERS } from './rules/containers.ts'
import { DATABASES } from './rules/databases.ts'
import { FILES } from './rules/files.ts'
import { GIT } from './rules/git.ts'
import { LANGUAGE_PACKAGES } from './rules/language-packages.ts'
import { MEMORY } from './rules/memory.ts'
import { NETWORK } from './rules/network.ts'
import { PROCESS_ENDS } from './rules/process-ends.ts'
import { PROGRAMS } from './rules/programs.ts'
import { SERVICES } from './rules/services.ts'
import { SHELL } from './rules/shell.ts'
import { SSH } from './rules/ssh.ts'
import { SYSTEM_PACKAGES } from './rules/system-packages.ts'

/** Names the set of rules. Increase the number when a failure gets another rule, confidence or fingerprint. */
export const RULES_VERSION = 'rules-3'

/** For equal confidence the first rule wins, so rules about a program come before rules about the machine. */
export const RULES: readonly Rule[] = [
  ...SYSTEM_PACKAGES,
  ...LANGUAGE_PACKAGES,
  ...PROGRAMS,
  ...GIT,
  ...SSH,
  ...SERVICES,
  ...CONTAINERS,
  ...DATABASES,
  ...SHELL,
  ...FILES,
  ...MEMORY,
  ...NETWORK,
  ...CERTIFICATES,
  ...BY_SLIPWAY,
  ...PROCESS_ENDS,
]
