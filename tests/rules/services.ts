import fs from 'node:fs'
import path from 'node:path'
import { serviceConfig } from '@slipway/runtime'
import { repositoryRoot } from '@slipway/testing'

export const SERVICES = fs.readdirSync(path.join(repositoryRoot, 'services'))

export type Schema = Parameters<typeof serviceConfig>[0]

/** All variables of a service, those of every process included. */
export async function schemaOf(service: string): Promise<Schema> {
  const module = await import(path.join(repositoryRoot, 'services', service, 'src/config.ts'))
  const own = Object.values<Schema>(module).find((value) => value?.type === 'object')
  return serviceConfig(own as Schema)
}
