import { type Rule, rulesOf } from '../rule.ts'

export const SSH: readonly Rule[] = rulesOf('ssh', [
  {
    id: 'ssh-permission-denied',
    hints: ['permission denied (', 'too many authentication failures', 'permission denied, please try again'],
    pattern:
      /permission denied \((?:publickey|password|keyboard|gssapi|hostbased)|too many authentication failures|permission denied, please try again/i,
    confidence: 0.97,
    title: 'An SSH server refused the login',
    cause: 'The server accepts none of the offered keys or passwords for this user.',
    remediation: ['Try `ssh -v USER@HOST`; check the key, its mode (600) and ~/.ssh/authorized_keys on the server'],
  },
  {
    id: 'ssh-host-key-failed',
    hints: ['host key verification failed', 'remote host identification has changed'],
    pattern: /host key verification failed|remote host identification has changed/i,
    confidence: 0.98,
    title: 'The host key of an SSH server is not known or has changed',
    cause: 'The key is not in known_hosts, the server was reinstalled, or the address leads to another server.',
    remediation: ['Add the right key to known_hosts. If the key changed, find out why before `ssh-keygen -R HOST`'],
  },
  {
    id: 'ssh-key-mode',
    hints: ['unprotected private key file', 'are too open', 'bad permissions'],
    pattern: /unprotected private key file|permissions \d{3,4} for .{1,300} are too open|bad permissions/i,
    confidence: 0.97,
    title: 'ssh refuses a private key that other users can read',
    cause: 'The mode of the file with the key is too open.',
    remediation: ['Run `chmod 600 FILE`; in `files` of the action, set mode 600'],
  },
  {
    id: 'ssh-no-common-algorithm',
    hints: ['no matching', 'unable to negotiate'],
    pattern: /unable to negotiate with|no matching (?:host key type|key exchange method|cipher|mac) found/i,
    confidence: 0.97,
    title: 'ssh and the server have no algorithm in common',
    cause: 'One of the two is old and offers only algorithms that the other no longer allows.',
    remediation: ['Update the older one; the evidence names the algorithms of the server'],
  },
])
