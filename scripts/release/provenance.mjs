import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

/**
 * The provenance of the files of a release: an in-toto statement with a SLSA predicate. A pipeline signs it with its identity.
 * @param source the address of the repository, and the commit
 */
export function provenanceOf(files, { repository, commit, version }) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((file) => ({
      name: path.basename(file),
      digest: { sha256: createHash('sha256').update(fs.readFileSync(file)).digest('hex') },
    })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}#make-release`,
        externalParameters: { version },
        internalParameters: { node: process.version, platform: `${process.platform}-${process.arch}` },
        resolvedDependencies: [{ uri: `git+${repository}@v${version}`, digest: { gitCommit: commit } }],
      },
      runDetails: {
        builder: { id: process.env['SLIPWAY_BUILDER_ID'] ?? 'local' },
        metadata: { finishedOn: new Date().toISOString() },
      },
    },
  }
}
