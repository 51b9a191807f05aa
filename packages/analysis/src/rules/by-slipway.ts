import { type Rule, type RuleText, rulesOf } from '../rule.ts'

/**
 * Rules for the reasons that an instance reports: it could not run the command, or ended the command. The patterns match
 * message texts, because the protocol has no reason code for commands.
 */
const REPORTED: RuleText[] = [
  {
    id: 'step-timeout',
    hints: ['(timeout_seconds)'],
    pattern: /killed after \d+ s \(timeout_seconds\)/,
    confidence: 0.98,
    title: 'The command took longer than its timeout',
    cause:
      'The command was still running after its timeout_seconds, so Slipway killed it with all its child processes.',
    remediation: [
      'Look at the last lines of output for what it was waiting for: a prompt, a lock, a slow or silent server',
      'Give it more time with timeout_seconds, in the action or in the request',
    ],
  },
  {
    id: 'deployment-timeout',
    hints: ['(deployment_timeout_seconds)', 'ran out of its time'],
    pattern: /deployment took longer than \d+ s|the deployment ran out of its time/i,
    confidence: 0.98,
    title: 'The deployment took longer than its timeout',
    cause:
      'The deployment reached its deployment_timeout_seconds while the command ran, so Slipway killed the command.',
    remediation: [
      'Look which steps took the time, by their duration_ms',
      'Raise deployment_timeout_seconds, or run more targets at once with the target modes parallel or rolling',
    ],
  },
  {
    id: 'instance-lost',
    hints: ['the instance was lost'],
    pattern: /the instance was lost/,
    confidence: 0.97,
    title: 'The orchestration instance was lost while the command ran',
    cause:
      'The instance that ran the command sent no heartbeat for 30 seconds. The outcome of the command is not known.',
    remediation: [
      'Look on the target whether the command did its work before it is run again',
      'Allow max_retries where the command may safely run twice',
      'Look at the logs of the instance, and at its connection to the executor-bridge',
    ],
  },
  {
    id: 'instance-restarted',
    hints: ['the instance was restarted'],
    pattern: /the instance was restarted/,
    confidence: 0.97,
    title: 'The orchestration instance was restarted while the command ran',
    cause: 'A restart of the instance kills its commands. How much the command had done is not known.',
    remediation: [
      'Look on the target whether the command did its work before it is run again',
      'Drain an instance before restarting it; allow max_retries where the command may safely run twice',
    ],
  },
  {
    id: 'instance-cut-off',
    hints: ['lost contact with slipway'],
    pattern: /lost contact with Slipway/,
    confidence: 0.97,
    title: 'The orchestration instance lost contact with Slipway and killed the command',
    cause:
      'The instance could not renew its lease, so another instance might have taken over the run. It killed its commands.',
    remediation: [
      'Look at the network between the instance and the executor-bridge',
      'Allow max_retries where the command may safely run twice',
    ],
  },
  {
    id: 'deployment-ended-first',
    hints: ['the deployment ended before the command did'],
    pattern: /the deployment ended before the command did/,
    confidence: 0.9,
    title: 'The deployment ended before the command did',
    cause: 'The command was still running when its deployment ended, so its outcome is not known.',
    remediation: ['Look on the target whether the command did its work before it is run again'],
  },
  {
    id: 'target-refused',
    hints: ['connection refused by'],
    pattern: /connection refused by/,
    confidence: 0.96,
    title: 'The target refused the connection',
    cause:
      'The host is up, but nothing listens at the address and port of the target, or a firewall rejects the connection.',
    remediation: [
      'Check host and port in the connection of the target',
      'Check on the target that the SSH server runs and listens there: `systemctl status ssh`, `ss -ltn`',
    ],
  },
  {
    id: 'target-silent',
    hints: ['no answer from', 'cannot be reached'],
    pattern: /no answer from|cannot be reached \((?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)\)/,
    confidence: 0.95,
    title: 'The target did not answer',
    cause:
      'The host is off or has another address, or a firewall between the instance and the target drops the packets.',
    remediation: [
      'Check that the target is up and that its address is right',
      'Try from the host of the instance: `nc -vz HOST PORT`',
    ],
  },
  {
    id: 'target-name',
    hints: ['cannot be resolved'],
    pattern: /the host name .{1,255} cannot be resolved/,
    confidence: 0.96,
    title: 'The name of the target cannot be resolved',
    cause: 'The name server of the instance knows no host of that name.',
    remediation: [
      'Check the spelling of host in the connection of the target',
      'Try on the host of the instance: `getent hosts NAME`',
    ],
  },
  {
    id: 'target-authentication',
    hints: ['authentication failed for'],
    pattern: /authentication failed for/,
    confidence: 0.96,
    title: 'The target refused the credentials',
    cause: 'The SSH server accepts neither the key nor the password of the target for this user.',
    remediation: [
      'Check that ~/.ssh/authorized_keys of that user has the public key, and that its permissions are right',
      'Set private_key or password of the target again; the log of the SSH server has the reason',
    ],
  },
  {
    id: 'target-host-key',
    hints: ['host key'],
    pattern: /host key/i,
    confidence: 0.93,
    title: 'The host key of the target is not the expected one',
    cause:
      'The host was reinstalled or replaced, the address leads to another machine, or the connection is intercepted.',
    remediation: [
      'Find out why the key changed before going on',
      'Compare it with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the target, then set the new host_key',
    ],
  },
  {
    id: 'target-connection-lost',
    hints: ['connection'],
    pattern: /connection (?:to .{1,260} )?was lost|connection closed by|no connection to/,
    confidence: 0.9,
    title: 'The connection to the target was lost',
    cause: 'The network, the SSH server or the target failed. Whether the command did its work is not known.',
    remediation: [
      'Check that the target is up and did not restart: `uptime`, `last reboot`',
      'Allow max_retries where the command may safely run twice',
    ],
  },
  {
    id: 'working-directory',
    hints: ['working directory'],
    pattern: /the working directory (?<what>.{1,300}) (?:does not exist|cannot|could not)/,
    confidence: 0.97,
    title: 'The working directory {what} does not exist',
    cause: 'The action names a working_directory that does not exist on this target, or that its user may not enter.',
    remediation: ['Create it in an earlier action, or correct working_directory in the definition of the action'],
  },
  {
    id: 'interpreter-missing',
    hints: ['the interpreter '],
    pattern: /the interpreter (?<what>\S{1,60}) (?:was not found|is not installed|cannot be)/,
    confidence: 0.97,
    title: 'The interpreter {what} is not installed where the script runs',
    cause: 'The definition of the action names an interpreter that this machine does not have in its PATH.',
    remediation: ['Install it there, or choose another interpreter in the definition of the action'],
  },
  {
    id: 'target-shell',
    hints: ['started no shell', 'refuses to run commands', 'no directory for the command'],
    pattern: /started no shell for|refuses to run commands|no directory for the command can be made/,
    confidence: 0.93,
    title: 'The target does not let its user run commands',
    cause:
      'The login works, but no command starts: the shell of the user, a forced command, or a full or read-only disk.',
    remediation: [
      'Try as the same user: `ssh USER@HOST true`',
      'Look at the login shell of the user (`getent passwd USER`), at ForceCommand, and at free space in /tmp and the home directory',
    ],
  },
  {
    id: 'content-not-delivered',
    hints: ['the file '],
    pattern: /the file .{1,300} (?:could not be|was damaged|cannot be)/,
    confidence: 0.93,
    title: 'A file of the action could not be placed in the working directory',
    cause: 'The content could not be fetched, verified or written, so the command was not started.',
    remediation: [
      'Check free space and permissions of the folder for commands, on the target and on the instance',
      'Try again with bypass_cache, so that the content is fetched and verified anew',
    ],
  },
]

export const BY_SLIPWAY: readonly Rule[] = rulesOf(
  'slipway',
  REPORTED.map((rule) => ({ ...rule, in: 'error' })),
)
