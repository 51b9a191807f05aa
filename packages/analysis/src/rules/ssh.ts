import { type Rule, rulesOf } from '../rule.ts'

export const SSH: readonly Rule[] = rulesOf('ssh', [
  {
    id: 'ssh-permission-denied',
    hints: ['permission denied (', 'too many authentication failures', 'permission denied, please try again'],
    pattern:
      /permission denied \((?:publickey|password|keyboard|gssapi|hostbased)|too many authentication failures|permission denied, please try again/i,
    confidence: 0.97,
    title: 'An SSH server refused the login',
    cause: 'The server accepts none of the keys (or passwords) that it was offered for this user.',
    remediation: ['Try `ssh -v USER@HOST`; check the key, its mode (600) and ~/.ssh/authorized_keys on the server'],
  },
  {
    id: 'ssh-host-key-failed',
    hints: ['host key verification failed', 'remote host identification has changed'],
    pattern: /host key verification failed|remote host identification has changed/i,
    confidence: 0.98,
    title: 'The host key of an SSH server is not known or has changed',
    cause: 'It is not in known_hosts and nobody can be asked, or the server was installed anew, or is another one.',
    remediation: [
      'Put the right key into known_hosts before; find out why it changed: `ssh-keygen -R HOST` only after that',
    ],
  },
  {
    id: 'ssh-key-mode',
    hints: ['unprotected private key file', 'are too open', 'bad permissions'],
    pattern: /unprotected private key file|permissions \d{3,4} for .{1,300} are too open|bad permissions/i,
    confidence: 0.97,
    title: 'A private key may be read by others, so ssh does not use it',
    cause: 'The mode of the file with the key is too open.',
    remediation: ['`chmod 600` it; in `files` of the action: mode 600'],
  },
  {
    id: 'ssh-no-common-algorithm',
    hints: ['no matching', 'unable to negotiate'],
    pattern: /unable to negotiate with|no matching (?:host key type|key exchange method|cipher|mac) found/i,
    confidence: 0.97,
    title: 'ssh and the server have no algorithm in common',
    cause: 'One of the two is old and offers only what the other no longer trusts.',
    remediation: ['Update the older one; the line names what the server offers'],
  },
])
