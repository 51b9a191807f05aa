import { type Rule, rulesOf } from '../rule.ts'

/** Rules for what Slipway knows of a failure: it could not start the command, lost it, or ended it. */
export const BY_SLIPWAY: readonly Rule[] = rulesOf('slipway', [
  {
    id: 'step-timeout',
    reason: 'step_timeout',
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
    reason: 'deployment_timeout',
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
    reason: 'instance_lost',
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
    reason: 'instance_restarted',
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
    reason: 'instance_cut_off',
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
    reason: 'deployment_ended',
    confidence: 0.9,
    title: 'The deployment ended before the command did',
    cause: 'The command was still running when its deployment ended, so its outcome is not known.',
    remediation: ['Look on the target whether the command did its work before it is run again'],
  },
  {
    id: 'target-refused',
    reason: 'target_refused',
    confidence: 0.96,
    title: 'The target refused the connection',
    cause:
      'The host is up, but nothing listens at the address and port of the target, or a firewall rejects the connection.',
    remediation: [
      'Check host and port in the connection of the target',
      'Check on the target that the SSH server, or the agent, runs and listens there: `ss -ltn`',
    ],
  },
  {
    id: 'target-silent',
    reason: 'target_silent',
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
    reason: 'target_name_unknown',
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
    reason: 'target_authentication',
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
    reason: 'target_host_key',
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
    reason: 'target_connection_lost',
    confidence: 0.9,
    title: 'The connection to the target was lost',
    cause:
      'The network, the SSH server, the agent or the target failed. Whether the command did its work is not known.',
    remediation: [
      'Check that the target is up and did not restart: `uptime`, `last reboot`',
      'Allow max_retries where the command may safely run twice',
    ],
  },
  {
    id: 'working-directory',
    reason: 'working_directory_missing',
    confidence: 0.97,
    title: 'The working directory {what} does not exist',
    cause: 'The action names a working_directory that does not exist on this target, or that its user may not enter.',
    remediation: ['Create it in an earlier action, or correct working_directory in the definition of the action'],
  },
  {
    id: 'interpreter-missing',
    reason: 'interpreter_missing',
    confidence: 0.97,
    title: 'The interpreter {what} is not installed where the script runs',
    cause: 'The definition of the action names an interpreter that this machine does not have in its PATH.',
    remediation: ['Install it there, or choose another interpreter in the definition of the action'],
  },
  {
    id: 'target-shell',
    reason: 'target_shell',
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
    reason: 'content_not_delivered',
    confidence: 0.93,
    title: 'A file of the action could not be placed in the working directory',
    cause: 'The content could not be fetched, verified or written, so the command was not started.',
    remediation: [
      'Check free space and permissions of the folder for commands, on the target and on the instance',
      'Try again with bypass_cache, so that the content is fetched and verified anew',
    ],
  },
])
