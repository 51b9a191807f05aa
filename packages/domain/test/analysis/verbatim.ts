import type { CommandFailureReason } from '@slipway/domain'

/** Verbatim output of a tool that the machine may lack, or that cannot be made to fail in a test. */
export interface VerbatimExample {
  rule: string
  /** The tool that writes the output. */
  tool: string
  stderr?: string
  stdout?: string
  error?: string
  reason?: CommandFailureReason
  subject?: string | null
  exit?: number | null
}

const apt = (rule: string, stderr: string): VerbatimExample => ({ rule, tool: 'apt 2.6', stderr, exit: 100 })
const git = (rule: string, stderr: string): VerbatimExample => ({ rule, tool: 'git 2.39', stderr, exit: 128 })
const slipway = (
  rule: string,
  error: string,
  reason: CommandFailureReason,
  subject: string | null = null,
): VerbatimExample => ({ rule, tool: 'Slipway', error, reason, subject, exit: null })
const exit = (code: number): VerbatimExample => ({
  rule: `exit-${code}`,
  tool: 'sh',
  error: `exit code ${code}`,
  exit: code,
})

export const VERBATIM: VerbatimExample[] = [
  slipway('step-timeout', 'killed after 30 s (timeout_seconds)', 'step_timeout'),
  slipway(
    'deployment-timeout',
    'killed: the deployment took longer than 60 s (deployment_timeout_seconds)',
    'deployment_timeout',
  ),
  slipway('instance-lost', 'the instance was lost while the command ran', 'instance_lost'),
  slipway('instance-restarted', 'the instance was restarted while the command ran', 'instance_restarted'),
  slipway('instance-cut-off', 'the instance lost contact with Slipway and killed the command', 'instance_cut_off'),
  slipway('deployment-ended-first', 'the deployment ended before the command did', 'deployment_ended'),
  slipway('target-refused', 'connection refused by 10.0.0.5:22', 'target_refused'),
  slipway('target-silent', '[fd00::5]:22 cannot be reached (EHOSTUNREACH)', 'target_silent'),
  slipway('target-name', 'the host name web-7.example.com cannot be resolved', 'target_name_unknown'),
  slipway('target-authentication', 'authentication failed for deploy@10.0.0.5:22', 'target_authentication'),
  slipway('target-host-key', 'host key of 10.0.0.5:22 changed: expected SHA256:a, got SHA256:d', 'target_host_key'),
  slipway('target-connection-lost', 'connection to 10.0.0.5:22 was lost', 'target_connection_lost'),
  slipway('target-shell', '10.0.0.5:22 started no shell for deploy (exit code 1)', 'target_shell'),
  slipway('working-directory', 'the working directory /srv does not exist', 'working_directory_missing', '/srv'),
  slipway('interpreter-missing', 'the interpreter pwsh was not found on 10.0.0.5:22', 'interpreter_missing', 'pwsh'),
  slipway('content-not-delivered', 'the file a was damaged on its way to 10.0.0.5:22', 'content_not_delivered'),
  slipway('sigkill', 'killed by SIGKILL', 'signal', 'SIGKILL'),
  slipway('sigterm', 'killed by SIGTERM', 'signal', 'SIGTERM'),
  slipway('signal', 'killed by SIGSEGV', 'signal', 'SIGSEGV'),
  ...[126, 127, 139, 134].map(exit),
  { rule: 'simulated', tool: 'a simulated target', stderr: 'simulated: exit code 4\n', exit: 4 },
  { rule: 'disk-full', tool: 'docker', stderr: 'failed to register layer: write /usr/lib/x: no space left on device' },
  apt('disk-full', "E: You don't have enough free space in /var/cache/apt/archives/."),
  { rule: 'disk-quota', tool: 'coreutils', stderr: "cp: error writing '/home/app/release.tgz': Disk quota exceeded" },
  { rule: 'read-only-file-system', tool: 'coreutils', stderr: "touch: cannot touch '/opt/app': Read-only file system" },
  { rule: 'disk-error', tool: 'coreutils', stderr: 'cat: /data/f: Input/output error' },
  { rule: 'disk-error', tool: 'coreutils', stderr: "ls: cannot access '/mnt/nfs': Stale file handle" },
  {
    rule: 'operation-not-permitted',
    tool: 'dpkg',
    stderr: 'dpkg: error: requested operation requires superuser privilege',
    exit: 2,
  },
  {
    rule: 'sudo-password',
    tool: 'sudo',
    stderr: 'sudo: a terminal is required to read the password; either use the -S option\nsudo: a password is required',
  },
  {
    rule: 'sudo-password',
    tool: 'sudo',
    stderr: 'deploy is not in the sudoers file.  This incident will be reported.',
  },
  { rule: 'file-busy', tool: 'umount', stderr: 'umount: /mnt/data: target is busy.', exit: 32 },
  {
    rule: 'checksum-mismatch',
    tool: 'apt',
    stderr: 'E: Failed to fetch http://deb.example/a  Hash Sum mismatch',
    exit: 100,
  },
  {
    rule: 'shared-library',
    tool: 'ld.so',
    stderr:
      './app: error while loading shared libraries: libssl.so.1.1: cannot open shared object file: No such file or directory',
    exit: 127,
  },
  {
    rule: 'shared-library',
    tool: 'ld.so',
    stderr: "./app: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./app)",
  },
  { rule: 'out-of-memory', tool: 'bash', stderr: 'bash: fork: Cannot allocate memory' },
  { rule: 'out-of-memory', tool: 'systemd', stdout: "app.service: Failed with result 'oom-kill'." },
  {
    rule: 'java-heap',
    tool: 'java',
    stderr: 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat Main.main(Main.java:5)',
  },
  { rule: 'too-many-processes', tool: 'bash', stderr: 'bash: fork: retry: Resource temporarily unavailable' },
  { rule: 'too-many-processes', tool: 'python', stderr: "RuntimeError: can't start new thread" },
  {
    rule: 'segmentation-fault',
    tool: 'bash',
    stderr: '/tmp/s: line 3: 4711 Segmentation fault      (core dumped) ./app',
    exit: 139,
  },
  {
    rule: 'inotify-limit',
    tool: 'node',
    stderr: "Error: ENOSPC: System limit for number of file watchers reached, watch '/app'",
  },
  {
    rule: 'connection-timeout',
    tool: 'curl',
    stderr: 'curl: (28) Connection timed out after 30001 milliseconds',
    exit: 28,
  },
  { rule: 'connection-timeout', tool: 'go', stderr: 'dial tcp 10.0.0.9:5432: i/o timeout' },
  { rule: 'dns-unknown', tool: 'curl', stderr: 'curl: (6) Could not resolve host: artifacts.internal', exit: 6 },
  { rule: 'dns-unknown', tool: 'node', stderr: 'Error: getaddrinfo ENOTFOUND artifacts.internal' },
  { rule: 'dns-failing', tool: 'glibc', stderr: 'ping: db: Temporary failure in name resolution', exit: 2 },
  {
    rule: 'dns-failing',
    tool: 'apt',
    stderr:
      "W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.debian.org'",
  },
  { rule: 'no-route', tool: 'ssh', stderr: 'ssh: connect to host 10.9.9.9 port 22: No route to host', exit: 255 },
  { rule: 'no-route', tool: 'node', stderr: 'Error: connect ENETUNREACH 2001:db8::1:443' },
  { rule: 'connection-reset', tool: 'node', stderr: 'Error: socket hang up' },
  { rule: 'connection-reset', tool: 'psql', stderr: 'server closed the connection unexpectedly' },
  {
    rule: 'port-in-use',
    tool: 'docker',
    stderr:
      'Error response from daemon: driver failed programming external connectivity on endpoint web: Bind for 0.0.0.0:80 failed: port is already allocated',
    exit: 125,
  },
  {
    rule: 'port-in-use',
    tool: 'the storefront',
    stderr: 'the storefront did not start:\nport 8080 is taken by another process',
  },
  { rule: 'port-in-use', tool: 'Werkzeug', stderr: 'Address already in use\nPort 5000 is in use by another program.' },
  { rule: 'port-in-use', tool: 'Spring Boot', stdout: 'Web server failed to start. Port 8080 was already in use.' },
  { rule: 'port-in-use', tool: 'Create React App', stdout: 'Something is already running on port 3000.' },
  {
    rule: 'port-in-use',
    tool: 'Docker Desktop',
    stderr:
      'Error response from daemon: Ports are not available: exposing port TCP 0.0.0.0:80 -> 0.0.0.0:0: listen tcp',
    exit: 125,
  },
  {
    rule: 'port-in-use',
    tool: 'Windows',
    stderr: 'Only one usage of each socket address (protocol/network address/port) is normally permitted.',
  },
  {
    rule: 'port-in-use',
    tool: 'nginx',
    stderr: 'nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)',
  },
  {
    rule: 'health-check',
    tool: 'docker compose',
    stderr: 'dependency failed to start: container app-db-1 is unhealthy',
  },
  {
    rule: 'health-check',
    tool: 'a script',
    stderr: 'health check of http://127.0.0.1:8080/healthz failed after 30 tries',
  },
  {
    rule: 'proxy',
    tool: 'pip',
    stderr: "WARNING: Retrying after connection broken by 'ProxyError('Cannot connect to proxy.')'",
  },
  {
    rule: 'certificate-expired',
    tool: 'curl',
    stderr: 'curl: (60) SSL certificate problem: certificate has expired',
    exit: 60,
  },
  {
    rule: 'certificate-expired',
    tool: 'go',
    stderr:
      'tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-01-01',
  },
  {
    rule: 'certificate-untrusted',
    tool: 'go',
    stderr: 'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  },
  {
    rule: 'certificate-untrusted',
    tool: 'git',
    stderr:
      "fatal: unable to access 'https://git.internal/a.git/': server certificate verification failed. CAfile: none CRLfile: none",
    exit: 128,
  },
  {
    rule: 'certificate-name',
    tool: 'node',
    stderr:
      "Error [ERR_TLS_CERT_ALTNAME_INVALID]: Hostname/IP does not match certificate's altnames: Host: localhost. is not in the cert's altnames",
  },
  {
    rule: 'tls-handshake',
    tool: 'git',
    stderr: 'fatal: unable to access: gnutls_handshake() failed: The TLS connection was non-properly terminated.',
    exit: 128,
  },
  { rule: 'http-rate-limit', tool: 'docker', stderr: 'toomanyrequests: You have reached your pull rate limit.' },
  { rule: 'http-server-error', tool: 'wget', stderr: '2026-01-01 10:00:00 ERROR 502: Bad Gateway.', exit: 8 },
  apt(
    'apt-lock',
    'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (unattended-upgr)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?',
  ),
  apt(
    'apt-package-unknown',
    "Package nginx-full is not available\n\nE: Package 'nginx-full' has no installation candidate",
  ),
  apt('apt-package-unknown', "E: Version '1.99' for 'nginx' was not found"),
  apt('apt-repository', "E: The repository 'http://deb.example.com bookworm Release' does not have a Release file."),
  apt(
    'apt-repository',
    'W: GPG error: http://deb.example.com bookworm InRelease: The following signatures could not be verified: NO_PUBKEY 1234ABCD',
  ),
  apt(
    'apt-dependencies',
    'The following packages have unmet dependencies:\n app : Depends: libssl1.1 but it is not installable\nE: Unable to correct problems, you have held broken packages.',
  ),
  apt(
    'dpkg-interrupted',
    "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem.",
  ),
  apt(
    'dpkg-error',
    'Errors were encountered while processing:\n app\nE: Sub-process /usr/bin/dpkg returned an error code (1)',
  ),
  { rule: 'dnf-no-match', tool: 'dnf 4', stderr: 'Error: Unable to find a match: nginx-none' },
  { rule: 'dnf-no-match', tool: 'yum 3', stdout: 'No package nginx-none available.', stderr: 'Error: Nothing to do' },
  {
    rule: 'dnf-repository',
    tool: 'dnf 4',
    stderr:
      "Error: Failed to download metadata for repo 'appstream': Cannot prepare internal mirrorlist: No URLs in mirrorlist",
  },
  { rule: 'dnf-repository', tool: 'yum 3', stderr: 'Cannot find a valid baseurl for repo: base/7/x86_64' },
  {
    rule: 'dnf-conflict',
    tool: 'dnf 4',
    stderr: 'Error: \n Problem: conflicting requests\n  - nothing provides libfoo.so.2 needed by app-1.0-1.x86_64',
  },
  {
    rule: 'rpm-lock',
    tool: 'rpm',
    stderr: "error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)",
  },
  { rule: 'rpm-lock', tool: 'yum 3', stderr: 'Existing lock /var/run/yum.pid: another copy is running as pid 4711.' },
  {
    rule: 'apk-package-unknown',
    tool: 'apk',
    stderr: 'ERROR: unable to select packages:\n  nginx-none (no such package):\n    required by: world[nginx-none]',
    exit: 1,
  },
  {
    rule: 'npm-not-found',
    tool: 'npm 10',
    stderr:
      "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/@acme%2fnone - Not found\nnpm error 404\nnpm error 404  '@acme/none@1.0.0' is not in this registry.",
  },
  {
    rule: 'npm-dependency-conflict',
    tool: 'npm 10',
    stderr: 'npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree',
  },
  {
    rule: 'npm-lockfile',
    tool: 'npm 10',
    stderr:
      'npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync.',
  },
  {
    rule: 'npm-lockfile',
    tool: 'pnpm',
    stderr:
      ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with package.json',
  },
  { rule: 'npm-engine', tool: 'npm 10', stderr: 'npm error code EBADENGINE\nnpm error engine Unsupported engine' },
  { rule: 'npm-error', tool: 'npm 8', stderr: 'npm ERR! code ELIFECYCLE\nnpm ERR! errno 1' },
  { rule: 'npm-error', tool: 'npm 10', stderr: 'npm error Lifecycle script `build` failed with error:' },
  {
    rule: 'pip-externally-managed',
    tool: 'pip',
    stderr: 'error: externally-managed-environment\n\n× This environment is externally managed',
  },
  {
    rule: 'pip-conflict',
    tool: 'pip',
    stderr:
      'ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/',
  },
  {
    rule: 'pip-build-failed',
    tool: 'pip',
    stderr:
      '  error: subprocess-exited-with-error\n  ERROR: Failed building wheel for psycopg2\nERROR: Failed to build installable wheels for some pyproject.toml based projects (psycopg2)',
  },
  {
    rule: 'ruby-gem-missing',
    tool: 'bundler',
    stderr: "Could not find gem 'rails (~> 7.0)' in locally installed gems.",
    exit: 7,
  },
  {
    rule: 'ruby-gem-missing',
    tool: 'ruby',
    stderr: "<internal:kernel_require>:38:in `require': cannot load such file -- sinatra (LoadError)",
  },
  {
    rule: 'maven-gradle',
    tool: 'maven',
    stdout:
      '[ERROR] Failed to execute goal on project app: Could not resolve dependencies for project com.acme:app:jar:1.0: Could not find artifact com.acme:lib:jar:9.9 in central',
  },
  { rule: 'maven-gradle', tool: 'gradle', stderr: 'FAILURE: Build failed with an exception.' },
  {
    rule: 'go-build',
    tool: 'go',
    stderr:
      'main.go:4:2: no required module provides package github.com/acme/x; to add it:\n\tgo get github.com/acme/x',
  },
  {
    rule: 'cargo',
    tool: 'cargo',
    stderr: 'error: could not find `Cargo.toml` in `/srv` or any parent directory',
    exit: 101,
  },
  {
    rule: 'cargo',
    tool: 'cargo',
    stderr: 'error: could not compile `app` (bin "app") due to 1 previous error',
    exit: 101,
  },
  {
    rule: 'compile-error',
    tool: 'tsc',
    stdout: "src/main.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    exit: 2,
  },
  {
    rule: 'java-exception',
    tool: 'java',
    stderr: 'Exception in thread "main" java.lang.NullPointerException\n\tat Main.main(Main.java:3)',
  },
  {
    rule: 'assertion-failed',
    tool: 'go',
    stderr: 'panic: runtime error: index out of range [3] with length 3',
    exit: 2,
  },
  {
    rule: 'assertion-failed',
    tool: 'rust',
    stderr: "thread 'main' panicked at src/main.rs:2:5:\nexplicit panic",
    exit: 101,
  },
  { rule: 'assertion-failed', tool: 'glibc', stderr: "app: main.c:4: main: Assertion `x > 0' failed.", exit: 134 },
  { rule: 'json-invalid', tool: 'jq', stderr: 'jq: error (at <stdin>:1): Cannot index number with "a"', exit: 5 },
  {
    rule: 'yaml-invalid',
    tool: 'kubectl',
    stderr:
      'error: error parsing deploy.yaml: error converting YAML to JSON: yaml: line 7: mapping values are not allowed in this context',
  },
  {
    rule: 'configuration-invalid',
    tool: 'nginx',
    stderr:
      'nginx: [emerg] unknown directive "lisen" in /etc/nginx/conf.d/app.conf:3\nnginx: configuration file /etc/nginx/nginx.conf test failed',
  },
  { rule: 'terraform-lock', tool: 'terraform', stderr: 'Error: Error acquiring the state lock' },
  {
    rule: 'rsync-error',
    tool: 'rsync',
    stderr:
      'rsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1338) [sender=3.2.7]',
    exit: 23,
  },
  git(
    'git-authentication',
    "remote: Invalid username or token.\nfatal: Authentication failed for 'https://git.example.com/acme/app.git/'",
  ),
  git('git-authentication', "fatal: could not read Username for 'https://github.com': terminal prompts disabled"),
  git(
    'git-repository-missing',
    "remote: Repository not found.\nfatal: repository 'https://github.com/acme/none.git/' not found",
  ),
  git('git-dubious-ownership', "fatal: detected dubious ownership in repository at '/srv/app'"),
  {
    rule: 'ssh-permission-denied',
    tool: 'ssh',
    stderr: 'deploy@10.0.0.5: Permission denied (publickey,password).',
    exit: 255,
  },
  {
    rule: 'ssh-host-key-failed',
    tool: 'ssh',
    stderr:
      'No ED25519 host key is known for 10.0.0.5 and you have requested strict checking.\nHost key verification failed.',
    exit: 255,
  },
  {
    rule: 'ssh-key-mode',
    tool: 'ssh',
    stderr: "@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\nPermissions 0644 for 'key' are too open.",
    exit: 255,
  },
  {
    rule: 'ssh-no-common-algorithm',
    tool: 'ssh',
    stderr: 'Unable to negotiate with 10.0.0.5 port 22: no matching host key type found. Their offer: ssh-rsa',
    exit: 255,
  },
  {
    rule: 'systemd-unit-missing',
    tool: 'systemctl',
    stderr: 'Failed to restart app.service: Unit app.service not found.',
    exit: 5,
  },
  {
    rule: 'systemd-job-failed',
    tool: 'systemctl',
    stderr:
      'Job for nginx.service failed because the control process exited with error code.\nSee "systemctl status nginx.service" and "journalctl -xeu nginx.service" for details.',
  },
  { rule: 'systemd-masked', tool: 'systemctl', stderr: 'Failed to start app.service: Unit app.service is masked.' },
  {
    rule: 'systemd-absent',
    tool: 'systemctl',
    stderr:
      "System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to bus: Host is down",
  },
  { rule: 'systemd-start-limit', tool: 'systemd', stdout: 'app.service: Start request repeated too quickly.' },
  {
    rule: 'systemd-access',
    tool: 'systemctl',
    stderr: 'Failed to restart app.service: Interactive authentication required.',
  },
  {
    rule: 'docker-daemon',
    tool: 'docker',
    stderr: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  },
  {
    rule: 'docker-socket-permission',
    tool: 'docker',
    stderr: 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock',
  },
  {
    rule: 'image-missing',
    tool: 'docker',
    stderr:
      "Unable to find image 'acme/none:1' locally\ndocker: Error response from daemon: pull access denied for acme/none, repository does not exist or may require 'docker login'",
    exit: 125,
  },
  {
    rule: 'image-missing',
    tool: 'docker',
    stderr: 'Error response from daemon: manifest for nginx:9.9 not found: manifest unknown: manifest unknown',
  },
  {
    rule: 'container-name-taken',
    tool: 'docker',
    stderr:
      'docker: Error response from daemon: Conflict. The container name "/web" is already in use by container "4f0e". You have to remove (or rename) that container.',
    exit: 125,
  },
  {
    rule: 'container-name-taken',
    tool: 'podman',
    stderr:
      'Error: creating container storage: the container name "web" is already in use by 4f0e. You have to remove that container to be able to reuse that name: that name is already in use',
    exit: 125,
  },
  { rule: 'container-missing', tool: 'docker', stderr: 'Error response from daemon: No such container: web' },
  {
    rule: 'container-start',
    tool: 'docker',
    stderr:
      'docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed',
    exit: 127,
  },
  { rule: 'compose-file', tool: 'docker compose', stderr: 'no configuration file provided: not found', exit: 14 },
  {
    rule: 'kubernetes-unreachable',
    tool: 'kubectl',
    stderr: 'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
  },
  {
    rule: 'kubernetes-forbidden',
    tool: 'kubectl',
    stderr:
      'Error from server (Forbidden): pods is forbidden: User "ci" cannot list resource "pods" in API group "" in the namespace "prod"',
  },
  {
    rule: 'kubernetes-not-found',
    tool: 'kubectl',
    stderr: 'Error from server (NotFound): deployments.apps "web" not found',
  },
  { rule: 'rollout-timeout', tool: 'kubectl', stderr: 'error: deployment "web" exceeded its progress deadline' },
  {
    rule: 'helm-release',
    tool: 'helm',
    stderr: 'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
  },
  {
    rule: 'postgres-authentication',
    tool: 'psql',
    stderr:
      'psql: error: connection to server at "db" (10.0.0.3), port 5432 failed: FATAL:  password authentication failed for user "app"',
    exit: 2,
  },
  { rule: 'postgres-missing', tool: 'psql', stderr: 'psql:m.sql:3: ERROR:  relation "orders" does not exist', exit: 3 },
  {
    rule: 'postgres-missing',
    tool: 'psql',
    stderr: 'psql: error: connection to server failed: FATAL:  database "shop" does not exist',
    exit: 2,
  },
  {
    rule: 'postgres-starting',
    tool: 'psql',
    stderr: 'psql: error: FATAL:  the database system is starting up',
    exit: 2,
  },
  { rule: 'database-connections', tool: 'psql', stderr: 'FATAL:  sorry, too many clients already', exit: 2 },
  {
    rule: 'database-constraint',
    tool: 'psql',
    stderr:
      'ERROR:  duplicate key value violates unique constraint "users_pkey"\nDETAIL:  Key (id)=(1) already exists.',
  },
  {
    rule: 'database-constraint',
    tool: 'mysql',
    stderr: "ERROR 1062 (23000) at line 1: Duplicate entry '1' for key 'users.PRIMARY'",
  },
  { rule: 'database-lock', tool: 'psql', stderr: 'ERROR:  canceling statement due to lock timeout' },
  { rule: 'database-lock', tool: 'sqlite3', stderr: 'Error: stepping, database is locked (5)' },
  { rule: 'sql-syntax', tool: 'psql', stderr: 'ERROR:  syntax error at or near "SELEC"\nLINE 1: SELEC 1;' },
  {
    rule: 'sql-syntax',
    tool: 'mysql',
    stderr: 'ERROR 1064 (42000) at line 1: You have an error in your SQL syntax; check the manual',
  },
  { rule: 'database-permission', tool: 'psql', stderr: 'ERROR:  permission denied for table users' },
  {
    rule: 'mysql-access',
    tool: 'mysql',
    stderr: "ERROR 1045 (28000): Access denied for user 'app'@'10.0.0.4' (using password: YES)",
  },
  {
    rule: 'mysql-access',
    tool: 'mysql',
    stderr: "ERROR 2002 (HY000): Can't connect to local MySQL server through socket '/var/run/mysqld/mysqld.sock' (2)",
  },
  { rule: 'redis-access', tool: 'redis-cli', stdout: '(error) NOAUTH Authentication required.' },
  { rule: 'mongodb-access', tool: 'mongosh', stderr: 'MongoServerError: Authentication failed.' },
  { rule: 'unknown', tool: 'false', error: 'exit code 1', exit: 1 },
]
