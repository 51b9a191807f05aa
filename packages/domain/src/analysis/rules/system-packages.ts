import { type Rule, rulesOf } from '../rule.ts'

export const SYSTEM_PACKAGES: readonly Rule[] = rulesOf('system packages', [
  {
    id: 'apt-lock',
    hints: [
      'could not get lock',
      'dpkg frontend lock',
      'dpkg frontend is locked',
      'unable to acquire the dpkg',
      'unable to lock directory',
      'locked by another process',
    ],
    pattern:
      /could not get lock|unable to acquire the dpkg frontend lock [^,]{1,100}, is another|frontend (?:lock )?(?:is|was) locked|unable to lock directory|locked by another process/i,
    confidence: 0.96,
    title: 'Another process holds the lock of the package manager',
    cause:
      'An installation is in progress, often unattended-upgrades or cloud-init on a machine that has just started.',
    remediation: [
      'Make apt wait for the lock: `apt-get -o DPkg::Lock::Timeout=300 …`',
      'See which process holds it: `fuser -v /var/lib/dpkg/lock-frontend`',
    ],
  },
  {
    id: 'apt-package-unknown',
    hints: ['unable to locate package', 'has no installation candidate', 'was not found'],
    pattern:
      /unable to locate package (?<what>\S{1,100})|package '?(?<what2>[^\s']{1,100})'? has no installation candidate|version '(?<what3>[^']{1,100})' for '[^']{1,100}' was not found/i,
    confidence: 0.96,
    title: 'apt knows no package {what}',
    cause: 'The lists are out of date (`apt-get update` was not run), or no repository of this release has it.',
    remediation: [
      'Run `apt-get update` first; look with `apt-cache policy NAME`',
      'Add the repository that has it, or correct the name',
    ],
  },
  {
    id: 'apt-repository',
    hints: ['failed to fetch', 'does not have a release file', 'is not signed', 'no_pubkey', 'some index files failed'],
    pattern: /failed to fetch|does not have a release file|is not signed|NO_PUBKEY|some index files failed/i,
    confidence: 0.88,
    title: 'A repository of apt could not be read',
    cause: 'It cannot be reached, has nothing for this release, or its signature cannot be checked.',
    remediation: [
      'Run `apt-get update` by hand and read its first error',
      'Correct /etc/apt/sources.list.d, or install the key of the repository',
    ],
  },
  {
    id: 'apt-dependencies',
    hints: ['unmet dependencies', 'held broken packages', 'dependency problems', 'pre-dependency'],
    pattern: /unmet dependencies|held broken packages|dependency problems|pre-dependency problem/i,
    confidence: 0.94,
    title: 'Dependencies of packages cannot be installed',
    cause: 'Repositories of several releases are mixed, a version is held, or an earlier installation was interrupted.',
    remediation: ['Try `apt-get -f install`; look at `apt-mark showhold` and `apt-cache policy NAME`'],
  },
  {
    id: 'dpkg-interrupted',
    hints: ['dpkg was interrupted'],
    pattern: /dpkg was interrupted/i,
    confidence: 0.98,
    title: 'An earlier installation was interrupted',
    cause: 'dpkg was interrupted and installs nothing until the interrupted installation is finished.',
    remediation: ['Run `dpkg --configure -a` on the target'],
  },
  {
    id: 'dpkg-error',
    distinct: true,
    hints: ['dpkg:', 'dpkg-deb:', 'sub-process /usr/bin/dpkg'],
    pattern: /sub-process \/usr\/bin\/dpkg returned|dpkg(?:-deb)?: error|error processing (?:package|archive)/i,
    confidence: 0.85,
    title: 'dpkg could not install or configure a package',
    cause: 'A script of the package failed, its archive is damaged, or its files belong to another package.',
    remediation: ['Read the lines before this one; run `dpkg --configure -a` and look at `journalctl -xe`'],
  },
  {
    id: 'dnf-no-match',
    hints: ['no match for argument', 'unable to find a match', 'no package', 'nothing to do'],
    pattern:
      /no match for argument: ?(?<what>\S{1,100})|unable to find a match: ?(?<what2>\S{1,100})|no package (?<what3>\S{1,100}) available/i,
    confidence: 0.96,
    title: 'dnf or yum knows no package {what}',
    cause: 'No enabled repository has it under that name.',
    remediation: ['Look with `dnf search NAME` and `dnf repolist`; enable the repository that has it'],
  },
  {
    id: 'dnf-repository',
    hints: ['failed to download metadata for repo', 'cannot find a valid baseurl', 'cannot download repomd'],
    pattern:
      /failed to download metadata for repo '?(?<what>[^'\s]{0,60})|cannot find a valid baseurl for repo: ?(?<what2>\S{0,60})|cannot download repomd/i,
    confidence: 0.95,
    title: 'A repository of dnf or yum could not be read: {what}',
    cause: 'Its mirror cannot be reached, or the release has reached its end of life and was moved to an archive.',
    remediation: ['Check baseurl in /etc/yum.repos.d and the network to that server; run `dnf clean metadata`'],
  },
  {
    id: 'dnf-conflict',
    hints: [
      'nothing provides',
      'conflicting requests',
      'cannot install the best',
      'transaction check error',
      'requires:',
    ],
    pattern:
      /nothing provides (?<what>\S{1,100})|conflicting requests|cannot install the best|transaction check error/i,
    confidence: 0.93,
    title: 'Packages of dnf or yum conflict',
    cause: 'A dependency is in no enabled repository, or two packages exclude each other.',
    remediation: ['Enable the repository that has it (EPEL, CRB …), or take versions that belong together'],
  },
  {
    id: 'rpm-lock',
    hints: ['waiting for process with pid', 'existing lock', "can't create transaction lock", 'rpm transaction lock'],
    pattern: /existing lock|can't create transaction lock|waiting for process with pid/i,
    confidence: 0.94,
    title: 'Another process holds the lock of rpm, dnf or yum',
    cause: 'An installation is in progress, or one was killed and left its lock.',
    remediation: [
      'See which process holds it: `fuser -v /var/lib/rpm/.rpm.lock`; try again when that process has ended',
    ],
  },
  {
    id: 'apk-package-unknown',
    hints: ['(no such package)', 'unable to select packages', 'unsatisfiable constraints'],
    pattern: /(?<what>\S{1,100}) \(no such package\)|unable to select packages|unsatisfiable constraints/i,
    confidence: 0.95,
    title: 'apk knows no package {what}',
    cause: 'The index is out of date, or no repository in /etc/apk/repositories has it.',
    remediation: ['Run `apk update`; add the repository (community, testing) that has it'],
  },
])
