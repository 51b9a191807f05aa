import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'

interface Stage {
  name: string
  from: string
  instructions: { word: string; rest: string }[]
}

/** The stages of the Dockerfile, with their instructions. */
function stages(): Stage[] {
  const lines = fs
    .readFileSync(path.join(repositoryRoot, 'deploy/Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const found: Stage[] = []
  for (const line of lines) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    const from = /^(\S+) AS (\S+)$/.exec(rest)
    if (word === 'FROM' && from) found.push({ from: String(from[1]), name: String(from[2]), instructions: [] })
    else found.at(-1)?.instructions.push({ word, rest })
  }
  return found
}

export const STAGES = stages()
export const stage = (name: string) => STAGES.find((each) => each.name === name) as Stage
/** The arguments of the instructions with this word. */
export const said = (name: string, word: string) =>
  stage(name)
    .instructions.filter((instruction) => instruction.word === word)
    .map(({ rest }) => rest)
