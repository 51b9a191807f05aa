import { type Rule, rulesOf } from '../rule.ts'

export const SERVICES: readonly Rule[] = rulesOf('services', [
  {
    id: 'systemd-unit-missing',
    hints: ['unit '],
    pattern:
      /unit (?<what>\S{1,100}?)(?: could not be found| not found| does not exist|\.service not loaded| not loaded)/i,
    confidence: 0.96,
    title: 'systemd knows no unit {what}',
    cause: 'The package of the service is not installed, the name is misspelt, or systemd has not read the new unit.',
    remediation: ['Look with `systemctl list-unit-files | grep NAME`; run `systemctl daemon-reload` after new units'],
  },
  {
    id: 'systemd-job-failed',
    hints: ['job for '],
    pattern: /job for (?<what>\S{1,100}) (?:failed|canceled|timed out)/i,
    confidence: 0.9,
    title: 'The service {what} did not start',
    cause: 'Its process ended at once or did not become ready in time. The log of the service has the reason.',
    remediation: [
      'Look at `systemctl status NAME` and `journalctl -u NAME -n 50`',
      'Check its configuration before restarting it',
    ],
  },
  {
    id: 'systemd-masked',
    hints: ['is masked'],
    pattern: /unit (?<what>\S{1,100}) is masked/i,
    confidence: 0.98,
    title: 'The unit {what} is masked',
    cause: 'An administrator has disabled the unit, so it cannot start.',
    remediation: ['Find out why, then `systemctl unmask NAME`'],
  },
  {
    id: 'systemd-absent',
    hints: ['system has not been booted with systemd', 'failed to connect to bus', 'failed to get d-bus connection'],
    pattern: /has not been booted with systemd|failed to (?:connect to|get d-?bus).{0,60}/i,
    confidence: 0.95,
    title: 'systemd does not run on the target, or cannot be reached',
    cause: 'The target is a container without systemd, or the call needs a user session that does not exist.',
    remediation: [
      'Start the service with the service manager of that machine; for user units set XDG_RUNTIME_DIR and enable lingering',
    ],
  },
  {
    id: 'systemd-start-limit',
    hints: ['start request repeated too quickly', 'start-limit'],
    pattern: /start request repeated too quickly|start-limit-hit/i,
    confidence: 0.95,
    title: 'A service failed so often that systemd no longer starts it',
    cause: 'The service repeatedly ends right after its start.',
    remediation: ['Look at `journalctl -u NAME -n 100` for the first failure; then `systemctl reset-failed NAME`'],
  },
  {
    id: 'systemd-access',
    hints: ['interactive authentication required', 'access denied'],
    pattern: /interactive authentication required|failed to (?:start|stop|restart|reload) .{1,100}: access denied/i,
    confidence: 0.97,
    title: 'The user may not control services',
    cause: 'systemd (polkit) requires administrator privileges for this.',
    remediation: ['Allow exactly this call with `sudo -n systemctl …`, or use a target with a privileged user'],
  },
])
