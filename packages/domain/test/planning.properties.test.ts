import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  buildPlan,
  type PublishedAction,
  resolveSource,
  resolveVersion,
  type SequenceDefinition,
  type SolutionDefinition,
  type SourceCatalog,
  selectTargets,
  type VariableDefinition,
  type VariableValues,
  valuesFor,
} from '../src/index.ts'

// Compares each rule with a small reference implementation that follows only the interface.

const NUMBERS = [0, 1, 2, 3]
const triple = fc.tuple(fc.constantFrom(...NUMBERS), fc.constantFrom(...NUMBERS), fc.constantFrom(...NUMBERS))
type Triple = [number, number, number]
const text = (version: Triple) => version.join('.')
const compare = (a: Triple, b: Triple) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
const isBelow = (a: Triple, b: Triple) => compare(a, b) < 0

/** A requirement as users write it, with its meaning. */
const requirement: fc.Arbitrary<{ range: string | undefined; satisfies(version: Triple): boolean }> = fc.oneof(
  fc.constant({ range: undefined, satisfies: () => true }),
  fc.constant({ range: '*', satisfies: () => true }),
  triple.map((t) => ({ range: text(t), satisfies: (v: Triple) => compare(v, t) === 0 })),
  triple.map((t) => ({
    range: `^${text(t)}`,
    // Up to the next change of the first number that is not 0.
    satisfies: (v: Triple) =>
      !isBelow(v, t) && isBelow(v, t[0] > 0 ? [t[0] + 1, 0, 0] : t[1] > 0 ? [0, t[1] + 1, 0] : [0, 0, t[2] + 1]),
  })),
  triple.map((t) => ({
    range: `~${text(t)}`,
    satisfies: (v: Triple) => !isBelow(v, t) && isBelow(v, [t[0], t[1] + 1, 0]),
  })),
  triple.map((t) => ({ range: `${t[0]}.x`, satisfies: (v: Triple) => v[0] === t[0] })),
  fc.tuple(triple, triple).map(([low, high]) => ({
    range: `>=${text(low)} <${text(high)}`,
    satisfies: (v: Triple) => !isBelow(v, low) && isBelow(v, high),
  })),
  fc.tuple(triple, triple).map(([one, other]) => ({
    range: `${text(one)} || >${text(other)}`,
    satisfies: (v: Triple) => compare(v, one) === 0 || isBelow(other, v),
  })),
)
const versions = fc.uniqueArray(triple, { minLength: 1, maxLength: 8, selector: text })

const highest = (of: Triple[], satisfies: (version: Triple) => boolean): string | null => {
  const [first] = of.filter(satisfies).sort((a, b) => compare(b, a))
  return first === undefined ? null : text(first)
}

test('a requirement selects the highest matching version in any order of publication', () => {
  fc.assert(
    fc.property(versions, requirement, (published, { range, satisfies }) => {
      expect(resolveVersion(published.map(text), range)).toBe(highest(published, satisfies))
      const early = published.map((version) => `${text([version[0] + 1, 0, 0])}-rc.1`)
      expect(resolveVersion([...early, ...published.map(text)], range)).toBe(highest(published, satisfies))
    }),
  )
})

const script = (name: string): PublishedAction => ({ type: 'script', script: name, places: null })
const catalogRecord = <D>(id: string, definitions: [string, D][]) => ({
  id,
  name: id,
  tenant_id: null,
  versions: definitions.map(([version, definition]) => ({ version, definition })),
})

test('steps are ordered by target, sequence and action, each with the required version', () => {
  // Most requirements are satisfied, so that most plans are complete.
  const mild = fc.oneof(
    { weight: 5, arbitrary: fc.constant({ range: undefined, satisfies: () => true }) },
    { weight: 1, arbitrary: requirement },
  )
  const action = fc.record({ id: fc.constantFrom('a', 'b', 'c'), requirement: mild })
  const sequence = fc.record({ id: fc.constantFrom('s', 't', 'u'), requirement: mild })
  let whole = 0
  const input = {
    actions: fc.record({ a: versions, b: versions, c: versions }),
    sequences: fc.record({ s: versions, t: versions, u: versions }),
    inSequence: fc.record({
      s: fc.array(action, { minLength: 1, maxLength: 3 }),
      t: fc.array(action, { minLength: 1, maxLength: 3 }),
      u: fc.array(action, { minLength: 1, maxLength: 3 }),
    }),
    inSolution: fc.array(sequence, { minLength: 1, maxLength: 4 }),
    targets: fc.integer({ min: 1, max: 4 }),
  }
  fc.assert(
    fc.property(fc.record(input), ({ actions, sequences, inSequence, inSolution, targets }) => {
      type Name = 's' | 't' | 'u'
      const expected: unknown[] = []
      let isWhole = true
      for (const [sequence_order, outer] of inSolution.entries()) {
        const sequenceVersion = highest(sequences[outer.id as Name], outer.requirement.satisfies)
        if (sequenceVersion === null) isWhole = false
        for (const [action_order, inner] of inSequence[outer.id as Name].entries()) {
          const actionVersion = highest(actions[inner.id as 'a' | 'b' | 'c'], inner.requirement.satisfies)
          if (sequenceVersion !== null && actionVersion === null) isWhole = false
          expected.push([sequence_order, outer.id, sequenceVersion, action_order, inner.id, actionVersion])
        }
      }
      const entryOf = (range: string | undefined) => (range === undefined ? {} : { version_requirement: range })
      const catalog: SourceCatalog = {
        actions: new Map(
          Object.entries(actions).map(([id, of]) => [
            id,
            catalogRecord(
              id,
              of.map((v) => [text(v), script(id)]),
            ),
          ]),
        ),
        sequences: new Map(
          Object.entries(sequences).map(([id, of]) => {
            const entries = inSequence[id as Name].map((each) => ({
              action_id: each.id,
              ...entryOf(each.requirement.range),
            }))
            const definition: SequenceDefinition = { actions: entries }
            return [
              id,
              catalogRecord(
                id,
                of.map((v) => [text(v), definition]),
              ),
            ]
          }),
        ),
        solutions: new Map([
          [
            'solution',
            catalogRecord<SolutionDefinition>('solution', [
              [
                '1.0.0',
                {
                  sequences: inSolution.map((each) => ({ sequence_id: each.id, ...entryOf(each.requirement.range) })),
                },
              ],
            ]),
          ],
        ]),
      }
      const resolve = () => resolveSource({ type: 'solution', id: 'solution' }, undefined, catalog)
      if (!isWhole) {
        expect(resolve).toThrow('The request is not valid')
        return
      }
      whole += 1
      const names = Array.from({ length: targets }, (_, index) => `target-${index}`)
      const { plan } = buildPlan({
        command_id: 'c',
        source: resolve(),
        targets: names.map((name) => ({
          id: name,
          name,
          status: 'online',
          awaits_probe: false,
          variables: {},
          sensitive: [],
          environment: null,
        })),
        tenant: null,
        environment: null,
        request: {},
      })
      expect(plan.targets.map(({ name }) => name)).toEqual(names)
      const places = plan.actions.map((at) => [
        ...[at.sequence_order, at.sequence_id, at.sequence_version],
        ...[at.action_order, at.action_id, at.action_version],
      ])
      expect(places).toEqual(expected)
    }),
    { numRuns: 300 },
  )
  expect(whole).toBeGreaterThan(50)
})

test('the last layer of the interface that has a value for a name applies', () => {
  const NAMES = ['one', 'two', 'three']
  const given = fc.subarray(NAMES)
  const layers = {
    action: given,
    sequence: given,
    solution: given,
    sequenceEntry: given,
    solutionEntry: given,
    tenant: given,
    environment: given,
    target: given,
    request: given,
    prompted: given,
  }
  fc.assert(
    fc.property(fc.record(layers), fc.boolean(), (has, isNamed) => {
      const valuesOf = (layer: keyof typeof has): VariableValues =>
        Object.fromEntries(has[layer].map((name) => [name, layer]))
      const declared = (layer: 'action' | 'sequence' | 'solution'): VariableDefinition[] => [
        ...(layer === 'action' ? NAMES.filter((name) => !has.action.includes(name)).map((name) => ({ name })) : []),
        ...has[layer].map((name) => ({ name, default: layer })),
      ]
      const catalog: SourceCatalog = {
        actions: new Map([['a', catalogRecord('a', [['1.0.0', { ...script('a'), variables: declared('action') }]])]]),
        sequences: new Map([
          [
            's',
            catalogRecord<SequenceDefinition>('s', [
              [
                '1.0.0',
                {
                  actions: [{ action_id: 'a', variables: valuesOf('sequenceEntry') }],
                  variables: declared('sequence'),
                },
              ],
            ]),
          ],
        ]),
        solutions: new Map([
          [
            'x',
            catalogRecord<SolutionDefinition>('x', [
              [
                '1.0.0',
                {
                  sequences: [{ sequence_id: 's', variables: valuesOf('solutionEntry') }],
                  variables: declared('solution'),
                },
              ],
            ]),
          ],
        ]),
      }
      const environment = { id: 'e', name: 'e', tenant_id: null, variables: valuesOf('environment'), sensitive: [] }
      const { plan } = buildPlan({
        command_id: 'c',
        source: resolveSource({ type: 'solution', id: 'x' }, undefined, catalog),
        targets: [
          {
            id: 't',
            name: 't',
            status: 'online',
            awaits_probe: false,
            variables: valuesOf('target'),
            sensitive: [],
            environment,
          },
        ],
        tenant: { id: 'n', name: 'n', variables: valuesOf('tenant'), sensitive: [] },
        // If the request names no environment, that of the target counts.
        environment: isNamed ? environment : null,
        request: { variables: valuesOf('request'), prompted_values: valuesOf('prompted') },
      })
      const expected: Record<string, string> = {}
      for (const layer of Object.keys(layers) as (keyof typeof has)[]) {
        for (const name of has[layer]) expected[name] = layer
      }
      const [target] = plan.targets
      if (target === undefined) throw new Error('no target')
      expect(valuesFor(plan, 0, target)).toEqual(expected)
    }),
  )
})

test('targets are the named ones, then those with any or all of the tags by name, each once', () => {
  const PAIRS = ['a=1', 'a=2', 'b=1', 'c=1']
  const tagOf = (pair: string) => ({ key: pair.slice(0, 1), value: pair.slice(2) })
  const candidate = fc.record({ tags: fc.subarray(PAIRS), enabled: fc.boolean(), name: fc.constantFrom('x', 'y', 'Z') })
  const input = {
    candidates: fc.array(candidate, { minLength: 1, maxLength: 8 }),
    ids: fc.array(fc.nat(7), { maxLength: 5 }),
    pairs: fc.subarray(PAIRS),
    matchAll: fc.option(fc.boolean(), { nil: undefined }),
  }
  fc.assert(
    fc.property(fc.record(input), ({ candidates, ids, pairs, matchAll }) => {
      const records = candidates.map((each, index) => ({ ...each, id: `id-${index}`, tags: each.tags.map(tagOf) }))
      const named = ids.filter((id) => id < records.length)
      const { targets, problems } = selectTargets(new Map(records.map((record) => [record.id, record])), {
        target_ids: named.map((id) => `id-${id}`),
        target_tags: pairs.map(tagOf),
        ...(matchAll === undefined ? {} : { match_all: matchAll }),
      })

      const expected: string[] = []
      for (const id of named) if (candidates[id]?.enabled && !expected.includes(`id-${id}`)) expected.push(`id-${id}`)
      const tagged = candidates
        .map((each, index) => ({ ...each, id: `id-${index}` }))
        .filter(({ enabled }) => enabled && pairs.length > 0)
        .filter(({ tags }) => {
          const carried = pairs.filter((pair) => tags.includes(pair)).length
          return matchAll === true ? carried === pairs.length : carried > 0
        })
        .sort((one, other) => (`${one.name} ${one.id}` < `${other.name} ${other.id}` ? -1 : 1))
      for (const { id } of tagged) if (!expected.includes(id)) expected.push(id)
      expect(targets.map(({ id }) => id)).toEqual(expected)

      const disabled = named.flatMap((id, index) => (candidates[id]?.enabled ? [] : [`/target_ids/${index}`]))
      const nothing = named.length === 0 && pairs.length === 0 ? ['/target_ids'] : []
      const noTagged = pairs.length > 0 && tagged.length === 0 ? ['/target_tags'] : []
      expect(problems.map(({ path }) => path)).toEqual([...nothing, ...disabled, ...noTagged])
    }),
  )
})
