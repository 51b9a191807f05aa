import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { PAGE, withRules } from '../../scripts/rules-table.mjs'
import { AREAS, RULES } from '../../src/analysis/index.ts'

test('docs/analysis.md lists the rules (else run: node packages/domain/scripts/rules-table.mjs)', () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(page).toBe(withRules(page, AREAS, RULES))
  for (const { id } of RULES) expect(page).toContain(`\`${id}\``)
})
