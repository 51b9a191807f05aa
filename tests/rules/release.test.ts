// The release script, in a small repository with a version in every kind of file.
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'

let root: string
const write = (name: string, text: string) => {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
  fs.writeFileSync(path.join(root, name), text)
}
const read = (name: string) => fs.readFileSync(path.join(root, name), 'utf8')
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
const commit = () => {
  git('add', '.')
  git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'change')
}
const composeImage = (version: string) => `image: slipway/gateway:$\{SLIPWAY_IMAGE_TAG:-${version}}\n`
const script = (name: string) => path.join(repositoryRoot, 'scripts/release', name)
const { findProblems } = await import(script('check.mjs'))
const { findOtherVersions, setVersion } = await import(script('version.mjs'))

beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-release-'))
  git('init', '-q')
  const manifest = (name: string) => `{\n  "name": "${name}",\n  "version": "1.0.0"\n}\n`
  write('package.json', manifest('slipway'))
  write('packages/cli/package.json', manifest('@slipway/cli'))
  write('services/gateway/package.json', manifest('@slipway/gateway'))
  write('deploy/base/gateway.yaml', 'image: slipway/gateway:1.0.0\napiVersion: apps/v1\n')
  write('deploy/chart/Chart.yaml', 'apiVersion: v2\nversion: 1.0.0\nappVersion: "1.0.0"\n')
  write('docker-compose.yml', composeImage('1.0.0'))
  write('docs/cli.md', 'npm install -g slipway-cli-1.0.0.tgz, with node:24.20.0\n')
  write(
    'CHANGELOG.md',
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [1.0.0] - 2026-01-01\n\n- First.\n',
  )
  commit()
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

test('a release is refused for an existing tag, a changed tree and a file with another version', () => {
  expect(findProblems(root, '1.0.0')).toEqual([])
  git('tag', 'v1.0.0')
  write('deploy/base/gateway.yaml', 'image: slipway/gateway:0.9.0\n')
  expect(findProblems(root, '1.0.0')).toEqual([
    expect.stringContaining('the tree is not clean'),
    expect.stringContaining('deploy/base/gateway.yaml has the version 0.9.0, not 1.0.0'),
    expect.stringContaining('the tag v1.0.0 exists'),
  ])
})

test('a version without a dated section of the changelog is refused', () => {
  expect(findProblems(root, '1.1.0')).toContainEqual(expect.stringContaining('CHANGELOG.md has no section "## [1.1.0]'))
})

test('--set writes the version into all files, and the result can be released', () => {
  const changed = setVersion(root, '1.1.0', '2026-02-03')
  expect(changed).toHaveLength(8)
  expect(read('CHANGELOG.md')).toContain('## [Unreleased]\n\n## [1.1.0] - 2026-02-03\n\n### Added\n\n- A thing.\n')
  expect(read('deploy/chart/Chart.yaml')).toBe('apiVersion: v2\nversion: 1.1.0\nappVersion: "1.1.0"\n')
  expect(read('docker-compose.yml')).toBe(composeImage('1.1.0'))
  expect(read('docs/cli.md')).toBe('npm install -g slipway-cli-1.1.0.tgz, with node:24.20.0\n')
  commit()
  expect(findProblems(root, '1.1.0')).toEqual([])
})

test('all files of this repository have the same version', () => {
  const { version } = JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'))
  expect(findOtherVersions(repositoryRoot, version)).toEqual([])
})

test('--help prints the options; an unknown option and a wrong version are refused without a stack trace', () => {
  const release = (...args: string[]) => {
    const program = path.join(repositoryRoot, 'scripts/release.mjs')
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  expect(release('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--check '), stderr: '' })
  const unknown = release('--publish')
  expect(unknown).toMatchObject({ status: 2, stderr: expect.stringContaining("release: Unknown option '--publish'") })
  expect(unknown.stderr).toContain('--check ')
  const wrong = release('--set', 'one')
  expect(wrong).toMatchObject({ status: 1, stderr: 'release: "one" is no version: write it like 1.2.0\n' })
})
