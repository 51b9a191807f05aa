// make mutants: plants one fault at a time into a copy of the sources, and runs tests until the first one fails. See tests/campaign/mutants/README.md.
import { TreeCopy } from './copy.ts'
import { MUTANTS, type Mutant } from './mutants.ts'
import { countFindings, type Finding, readResults, tableOf, writeResults } from './results.ts'
import { violationsIn } from './round.ts'
import { firstFailure, goldenFiles, inProcessFiles } from './tests.ts'

const LEAST_FOUND = 28
const LEAST_FOUND_BY_TESTS = 20

const only = process.env['ONLY'] ?? ''
const chosen = MUTANTS.filter(({ id }) => only === '' || only.split(',').includes(id))
if (chosen.length === 0) throw new Error(`no mutant is called ${only}: ${MUTANTS.map(({ id }) => id).join(', ')}`)
// A round of the campaign changes the addresses of the servers.
const env = { ...process.env }

const results = readResults()
const copy = new TreeCopy('.slipway/mutants/tree')
for (const mutant of chosen) {
  if (only === '' && mutant.id in results.mutants) continue
  const began = Date.now()
  const finding = await copy.whilePlanted(mutant, () => search(mutant))
  results.mutants[mutant.id] = finding
  writeResults(results)
  const where = finding === null ? 'NOT FOUND' : `${finding.step}: ${finding.file}: ${finding.test}`
  console.log(`${mutant.id}, ${Math.round((Date.now() - began) / 1_000)} s: ${where}`)
}

// Without a fault, the files must pass.
for (const finding of Object.values(results.mutants)) {
  if (finding === null || finding.step === 'campaign' || finding.file in results.controls) continue
  if (finding.step !== 'owner' || finding.file.startsWith('tests/')) copy.build()
  results.controls[finding.file] = firstFailure(copy.root, [finding.file], env) === null
  writeResults(results)
}

console.log(`\n${tableOf(results)}\n`)
const red = Object.keys(results.controls).filter((file) => !results.controls[file])
for (const file of red) console.log(`${file} fails without a fault: its findings do not count`)
const isWhole = MUTANTS.every(({ id }) => id in results.mutants)
const { all, byTests } = countFindings(results)
console.log(`mutants: ${all} of ${Object.keys(results.mutants).length} found, ${byTests} of them by make test`)
const isEnough = !isWhole || (all >= LEAST_FOUND && byTests >= LEAST_FOUND_BY_TESTS)
process.exit(red.length === 0 && isEnough ? 0 : 1)

async function search(mutant: Mutant): Promise<Finding | null> {
  for (const file of mutant.owners) {
    // Only the golden paths start services as processes. The other owners load the sources.
    if (file.startsWith('tests/')) copy.build()
    const failure = firstFailure(copy.root, [file], env)
    if (failure) return { step: 'owner', ...failure }
  }
  copy.build()
  const others = inProcessFiles(copy.root).filter((file) => !mutant.owners.includes(file))
  const failure = firstFailure(copy.root, others, env)
  if (failure) return { step: 'other test', ...failure }
  const golden = goldenFiles(copy.root).filter((file) => !mutant.owners.includes(file))
  const broken = golden.length === 0 ? null : firstFailure(copy.root, golden, env)
  if (broken) return { step: 'golden path', ...broken }
  const violations = await violationsIn(mutant, copy.folder)
  if (violations.size === 0) return null
  const [sentence = ''] = violations.values()
  return {
    step: 'campaign',
    file: 'tests/campaign/main.ts',
    test: [...violations.keys()].join(', '),
    message: sentence,
  }
}
