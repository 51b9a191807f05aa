// Makes what is published, and installs it as a user does: without this repository and without network.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'

const script = (name: string) => path.join(repositoryRoot, 'scripts', name)
const makePublished = (name: string, ...args: string[]) =>
  execFileSync(process.execPath, [script(name), ...args], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim()

/** Writes the files of a release of the present state to the folder. */
export const makeSnapshot = (folder: string, images: string): string =>
  makePublished('release.mjs', '--snapshot', '--out', folder, '--images', images)

/** Packs the client; returns the path of the tarball. */
export const packClient = (folder: string): string => makePublished('package-client.mjs', '--out', folder)

/** Runs npm without network, cache and settings of the user. */
function npm(cwd: string, ...args: string[]): void {
  fs.mkdirSync(cwd, { recursive: true })
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: cwd,
    npm_config_cache: path.join(cwd, 'cache'),
    npm_config_update_notifier: 'false',
  }
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd, stdio: 'pipe', env })
}

/** Installs the command line below the folder; returns its program, and the folder of its package. */
export function installProgram(tarball: string, below: string): { program: string; folder: string } {
  npm(below, 'install', '-g', '--prefix', path.join(below, 'prefix'), tarball)
  return {
    program: path.join(below, 'prefix/bin/slipway'),
    folder: path.join(below, 'prefix/lib/node_modules/@slipway/cli'),
  }
}

/** Installs the client into a project, with the types of Node for TypeScript. Returns the folder of its package. */
export function installClient(tarball: string, project: string): string {
  fs.mkdirSync(project, { recursive: true })
  fs.writeFileSync(path.join(project, 'package.json'), '{ "type": "module" }')
  npm(project, 'install', tarball)
  fs.mkdirSync(path.join(project, 'node_modules/@types'), { recursive: true })
  fs.symlinkSync(path.join(repositoryRoot, 'node_modules/@types/node'), path.join(project, 'node_modules/@types/node'))
  return path.join(project, 'node_modules/@slipway/client')
}
