import path from 'node:path'

/** Top folder of the repository. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..')
