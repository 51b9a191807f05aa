/**
 * The provenance of the files of a release: an in-toto statement with a SLSA predicate. A pipeline signs it with its identity.
 * @param subjects the files, with their digests
 * @param source the address of the repository, the commit, and the tag or commit by which it is found there
 */
export function provenanceOf(subjects, { repository, commit, ref, version }) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}#make-release`,
        externalParameters: { version },
        internalParameters: { node: process.version, platform: `${process.platform}-${process.arch}` },
        resolvedDependencies: [{ uri: `git+${repository}@${ref}`, digest: { gitCommit: commit } }],
      },
      runDetails: {
        builder: { id: process.env['SLIPWAY_BUILDER_ID'] ?? 'local' },
        metadata: { finishedOn: new Date().toISOString() },
      },
    },
  }
}
