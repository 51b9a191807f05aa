import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { repositoryRoot } from '@slipway/testing'
import type { Manifest } from './manifests.ts'

const PACKAGES: Record<string, string> = {
  'cert-manager.io': '@kubernetes-models/cert-manager',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg',
}
const OWN = ['rabbitmq.com', 'redis.redis.opstreelabs.in', 'barmancloud.cnpg.io']

const groupOf = ({ apiVersion }: Manifest) => apiVersion.split('/')[0] ?? ''

function moduleOf(manifest: Manifest): string {
  if (OWN.includes(groupOf(manifest))) return path.join(import.meta.dirname, 'operators.ts')
  return `${PACKAGES[groupOf(manifest)] ?? 'kubernetes-models'}/${manifest.apiVersion}/${manifest.kind}`
}

const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`

/** Finds unknown fields, missing fields and wrong types, by the TypeScript types of Kubernetes and the operators. */
export function misfits(manifests: Manifest[]): string[] {
  const parent = path.join(repositoryRoot, '.slipway')
  fs.mkdirSync(parent, { recursive: true })
  // The folder is inside the repository, so that tsc finds the packages.
  const folder = fs.mkdtempSync(path.join(parent, 'manifests-'))
  try {
    const names = manifests.map(nameOf)
    const files = manifests.map((manifest, index) => {
      const file = path.join(folder, `manifest${index}.ts`)
      const type = `I${manifest.kind}`
      const literal = JSON.stringify(manifest, null, 2)
      fs.writeFileSync(
        file,
        `import type { ${type} } from '${moduleOf(manifest)}'\nexport const it: ${type} = ${literal}\n`,
      )
      return file
    })
    const options =
      '--ignoreConfig --noEmit --strict --skipLibCheck --target es2023 --module esnext --moduleResolution bundler'
    const { stdout, status, error } = spawnSync(
      path.join(repositoryRoot, 'node_modules/.bin/tsc'),
      [...options.split(' '), '--allowImportingTsExtensions', '--types', '', '--pretty', 'false', ...files],
      { cwd: folder, encoding: 'utf8' },
    )
    if (error) throw error
    const found = [...stdout.matchAll(/manifest(\d+)\.ts\(.*?\): error TS\d+: (.*(?:\n .*)*)/g)]
    if (status !== 0 && found.length === 0) throw new Error(`the compiler failed: ${stdout}`)
    // The last line of an error names the field.
    return found.map(([, index, problem]) => `${names[Number(index)]}: ${problem?.split('\n').at(-1)?.trim()}`)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/** Finds values that the schemas do not allow. */
export async function invalid(manifests: Manifest[]): Promise<string[]> {
  const checked = manifests.filter((manifest) => !OWN.includes(groupOf(manifest)))
  const problems: string[] = []
  for (const manifest of checked) {
    const models = (await import(moduleOf(manifest))) as Record<string, new (data: Manifest) => { validate(): void }>
    const Model = models[manifest.kind]
    try {
      if (!Model) throw new Error(`no schema knows ${manifest.apiVersion}`)
      new Model(manifest).validate()
    } catch (error) {
      problems.push(`${nameOf(manifest)}: ${(error as Error).message}`)
    }
  }
  return problems
}
