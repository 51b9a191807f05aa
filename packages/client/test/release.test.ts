import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { loadRelease } from '../src/release/load.ts'
import { deploymentValues, fill } from '../src/release/values.ts'
import { FileProblems } from '../src/release/yaml-file.ts'

const EXAMPLE = path.join(import.meta.dirname, '../../../examples/storefront')

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'slipway-release-'))
  cpSync(EXAMPLE, directory, { recursive: true })
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Changes a file; the text to replace must be there, else the test would test nothing. */
function edit(name: string, from: string, to: string) {
  const file = path.join(directory, name)
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${name} does not contain ${from}`)
  writeFileSync(file, text.replace(from, to))
}

function problems(): readonly string[] {
  try {
    loadRelease(directory)
    return []
  } catch (error) {
    if (error instanceof FileProblems) return error.problems
    throw error
  }
}

describe('reading a release directory', () => {
  test('puts scripts from their files into the definitions', () => {
    const { definition } = loadRelease(directory).actions.get('switch') ?? {}
    expect(definition?.script).toBe(readFileSync(path.join(EXAMPLE, 'actions/switch.sh'), 'utf8'))
    expect(definition?.rollback?.script).toBe(readFileSync(path.join(EXAMPLE, 'actions/switch-rollback.sh'), 'utf8'))
    expect(definition).not.toHaveProperty('script_file')
  })

  test('names file, line and field of every mistake, in all files at once', () => {
    edit('actions/start.yaml', 'timeout_seconds: 30', 'timeout_seconds: soon')
    edit('actions/unpack.yaml', 'script_file: unpack.sh', 'script_file: unpak.sh')
    edit('solution.yaml', 'action: check-health', 'action: check-helth')
    edit('targets.yaml', 'name: storefront-2', 'name: storefront-1')
    edit('deployment.yaml', 'max_retries: 1', 'max_retry: 1')
    expect(problems()).toEqual([
      expect.stringMatching(/^deployment\.yaml:\d+: max_retry is not a known field$/),
      expect.stringMatching(/^actions\/start\.yaml:9: definition\/timeout_seconds must be integer$/),
      expect.stringMatching(
        /^actions\/unpack\.yaml:6: definition\/script_file names actions\/unpak\.sh, which cannot be read$/,
      ),
      expect.stringMatching(
        /^solution\.yaml:17: sequences\/1\/actions\/0\/action is "check-helth", but there is no actions\/check-helth\.yaml \(there are: check-health, start, switch, unpack\)$/,
      ),
      expect.stringMatching(/^targets\.yaml:\d+: 1\/name is "storefront-1", like that of another target$/),
    ])
  })

  test('a required field that is absent is reported where it should stand', () => {
    edit('actions/start.yaml', 'version: 1.0.0\n', '')
    expect(problems()).toEqual(['actions/start.yaml:1: version is required'])
  })

  test('what is no YAML is reported with its line', () => {
    edit('environment.yaml', 'variables:', 'variables: [')
    expect(problems()[0]).toMatch(/^environment\.yaml:\d+: /)
  })

  test('a folder without a solution is none', () => {
    rmSync(path.join(directory, 'solution.yaml'))
    expect(problems()[0]).toContain('there is no solution.yaml')
  })
})

describe('the values of a deployment', () => {
  const deployment = (text: string) => {
    writeFileSync(path.join(directory, 'deployment.yaml'), text)
    return loadRelease(directory)
  }

  test('come from the file, its paths, what is prepared, and what is given, which wins', async () => {
    const release = deployment(`
variables: { version: 1.0.0, greeting: Hello }
paths: { base_directory: ./made }
prepare: { command: [sh, -c, 'echo "sha256=$1"; echo artifact=from-prepare', sh, "{{ version }}"] }
`)
    expect(await deploymentValues(release, ['version=1.1.0', 'fail_health=true', 'artifact=mine', 'other=1'])).toEqual({
      version: '1.1.0',
      greeting: 'Hello',
      base_directory: path.join(directory, 'made'),
      sha256: '1.1.0',
      artifact: 'mine',
      fail_health: true,
      other: '1',
    })
  })

  test('a given value must be of the declared type', async () => {
    const release = deployment('variables: {}')
    await expect(deploymentValues(release, ['fail_health=perhaps'])).rejects.toThrow(
      '--var fail_health: must be a boolean',
    )
    await expect(deploymentValues(release, ['port="80"'])).rejects.toThrow('--var port: must be a number')
    await expect(deploymentValues(release, ['version'])).rejects.toThrow('--var version: write it as NAME=VALUE')
  })

  test('a prepare command that fails, or names an unknown variable, stops the deployment', async () => {
    const failing = deployment('prepare: { command: [sh, -c, exit 3] }')
    await expect(deploymentValues(failing, [])).rejects.toThrow('"sh -c exit 3" failed (exit code 3)')
    const unknown = deployment('prepare:\n  command:\n    - echo\n    - "{{ versoin }}"\n')
    await expect(deploymentValues(unknown, [])).rejects.toThrow(
      'deployment.yaml:4: prepare/command/1 names {{ versoin }}, but no variable is called versoin',
    )
  })

  test('templates without a value stay as they are', () => {
    expect(fill('http://{{ host }}:{{ port }}/', { port: 80 })).toBe('http://{{ host }}:80/')
  })
})
