// Installs the package of the command line and the client as a user does, without this repository and without network.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'

export interface Installed {
  tarball: string
  /** The program `slipway`. */
  program: string
  /** The folder of the package. */
  folder: string
}

/** Packs the package and installs it below the folder. */
export function installPackage(below: string): Installed {
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, {
      cwd: below,
      encoding: 'utf8',
      stdio: 'pipe',
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: below,
        npm_config_cache: path.join(below, 'cache'),
        npm_config_update_notifier: 'false',
      },
    })
  fs.mkdirSync(below, { recursive: true })
  const script = path.join(repositoryRoot, 'scripts/package-cli.mjs')
  const tarball = run(process.execPath, [script, '--out', path.join(below, 'packed')]).trim()
  const prefix = path.join(below, 'prefix')
  run('npm', ['install', '-g', '--prefix', prefix, '--offline', '--no-audit', '--no-fund', tarball])
  return {
    tarball,
    program: path.join(prefix, 'bin/slipway'),
    folder: path.join(prefix, 'lib/node_modules/@slipway/cli'),
  }
}

/** Makes the package importable from a folder, as `npm install` would, with the types of Node for TypeScript. */
export function linkPackage({ folder }: Installed, project: string): void {
  const modules = path.join(project, 'node_modules')
  fs.mkdirSync(path.join(modules, '@slipway'), { recursive: true })
  fs.mkdirSync(path.join(modules, '@types'), { recursive: true })
  fs.cpSync(folder, path.join(modules, '@slipway/cli'), { recursive: true })
  fs.symlinkSync(path.join(repositoryRoot, 'node_modules/@types/node'), path.join(modules, '@types/node'))
}
