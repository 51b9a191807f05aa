/** A script that fails when it runs, and the rules of which one must explain the failure. */
export interface RealExample {
  rules: string[]
  script: string
  /** Programs that the example requires. */
  needs?: string[]
  /** Runs as a user who is not root. */
  unprivileged?: true
  shell?: 'sh' | 'bash'
}

/**
 * Scripts run in a fresh directory. SERVER is an HTTP server that answers `/STATUS/…` with that status.
 * SECURE is a server with a self-signed certificate. TAKEN is the port of SERVER.
 */
export const REAL: RealExample[] = [
  { rules: ['command-not-found'], script: 'no-such-command-here --now' },
  { rules: ['command-not-found'], script: 'no-such-command-here --now', shell: 'bash' },
  { rules: ['bad-interpreter', 'command-not-found'], script: `printf '#!/opt/none/python\\n' >x; chmod +x x; ./x` },
  { rules: ['bad-interpreter'], script: `printf '#!/opt/none/python\\n' >x; chmod +x x; ./x`, shell: 'bash' },
  { rules: ['carriage-returns'], script: `printf 'true\\r\\nfalse\\r\\n' >x; bash x`, needs: ['bash'] },
  { rules: ['carriage-returns'], script: `printf 'false\\r\\n' >x; sh x` },
  { rules: ['shell-syntax'], script: 'echo "if true; then echo yes" >x; sh x' },
  { rules: ['shell-syntax'], script: 'echo "echo \\"never closed" >x; bash x', needs: ['bash'] },
  { rules: ['unset-variable'], script: 'set -u; echo "$RELEASE_TAG"' },
  { rules: ['unset-variable'], script: 'set -u; echo "$RELEASE_TAG"', shell: 'bash' },
  { rules: ['bad-substitution'], script: `echo 'echo \${PATH//a/b}' >x; dash x`, needs: ['dash'] },
  { rules: ['bad-substitution'], script: `[[ a == a ]] || exit 1`, needs: ['dash'] },
  { rules: ['illegal-number'], script: '[ "many" -gt 3 ] || exit 2' },
  { rules: ['usage-error'], script: 'ls --no-such-option' },
  { rules: ['usage-error'], script: 'cp only-one; exit 1' },
  { rules: ['disk-full'], script: 'cat /proc/self/stat >/dev/full' },
  { rules: ['disk-full'], script: `python3 -c 'open("/dev/full","w").write("x"*100000)'`, needs: ['python3'] },
  { rules: ['disk-full'], script: `node -e 'fs.writeFileSync("/dev/full","x")'`, needs: ['node'] },
  {
    rules: ['read-only-file-system', 'permission-denied', 'operation-not-permitted'],
    script: 'echo 1 >/sys/kernel/notes',
  },
  { rules: ['permission-denied-execute'], script: 'echo true >deploy.sh; ./deploy.sh' },
  { rules: ['permission-denied'], script: 'cat /etc/shadow', unprivileged: true },
  { rules: ['permission-denied'], script: 'echo x >/etc/slipway.conf', unprivileged: true },
  { rules: ['permission-denied'], script: `python3 -c 'open("/etc/shadow")'`, needs: ['python3'], unprivileged: true },
  {
    rules: ['permission-denied'],
    script: `node -e 'fs.readFileSync("/etc/shadow")'`,
    needs: ['node'],
    unprivileged: true,
  },
  { rules: ['operation-not-permitted'], script: 'chown root: .', unprivileged: true },
  {
    rules: ['operation-not-permitted', 'permission-denied'],
    script: 'apt-get install -y hello',
    needs: ['apt-get'],
    unprivileged: true,
  },
  { rules: ['sudo-password'], script: 'sudo -n true', needs: ['sudo'], unprivileged: true },
  { rules: ['file-missing'], script: 'cat conf/app.yaml' },
  { rules: ['file-missing'], script: 'cd releases/current' },
  { rules: ['file-missing'], script: `node -e 'fs.readFileSync("conf/app.yaml")'`, needs: ['node'] },
  { rules: ['file-missing'], script: `python3 -c 'open("conf/app.yaml")'`, needs: ['python3'] },
  { rules: ['file-exists'], script: 'mkdir a; mkdir a' },
  { rules: ['file-exists'], script: 'ln -s a b; ln -s a b' },
  { rules: ['not-a-directory'], script: 'touch a; cat a/b' },
  { rules: ['not-a-directory'], script: 'mkdir a; cat a' },
  { rules: ['directory-not-empty'], script: 'mkdir -p a/b; rmdir a' },
  {
    rules: ['file-busy'],
    script: 'cp "$(command -v sleep)" s; ./s 20 & sleep 0.3; echo x >s; code=$?; kill $!; exit $code',
  },
  { rules: ['cross-device-link'], script: 'ln /proc/self/status here || exit 1' },
  { rules: ['archive-damaged'], script: 'echo no archive >a.tgz; tar xzf a.tgz', needs: ['tar', 'gzip'] },
  { rules: ['archive-damaged'], script: 'echo hello >a; gzip a; head -c 10 a.gz >b.gz; gzip -d b.gz', needs: ['gzip'] },
  { rules: ['archive-damaged'], script: 'echo no archive >a.zip; unzip a.zip', needs: ['unzip'] },
  {
    rules: ['checksum-mismatch'],
    script: 'echo a >f; sha256sum f >sums; echo b >f; sha256sum -c sums',
    needs: ['sha256sum'],
  },
  { rules: ['path-too-long'], script: 'touch "$(printf %0300d 0)"' },
  {
    rules: ['path-too-long'],
    script: '/bin/echo "$(head -c 3000000 /dev/zero | tr "\\0" x)" >/dev/null',
    shell: 'bash',
  },
  {
    rules: ['exec-format'],
    script: `printf '\\177ELF\\2\\1\\1' >x; head -c 200 /dev/zero >>x; chmod +x x; exec ./x`,
    shell: 'bash',
  },
  {
    rules: ['shared-library'],
    script: 'cp "$(command -v curl)" c; patchelf --add-needed libnone.so.1 c; ./c',
    needs: ['curl', 'patchelf'],
  },
  { rules: ['out-of-memory'], script: `ulimit -v 300000; python3 -c 'x = "x" * 10**9'`, needs: ['python3'] },
  { rules: ['out-of-memory'], script: 'ulimit -v 20000; perl -e \'$x = "x" x 10**9\'', needs: ['perl'] },
  {
    rules: ['node-heap'],
    script: `node --max-old-space-size=12 -e 'const a=[];for(;;)a.push(new Array(1e4).fill({}))'`,
    needs: ['node'],
  },
  { rules: ['java-heap'], script: 'java -Xmx99999g -Xms99999g -version', needs: ['java'] },
  {
    rules: ['too-many-open-files'],
    script: `ulimit -n 20; python3 -c 'x=[open("/dev/null") for _ in range(99)]'`,
    needs: ['python3'],
  },
  {
    rules: ['too-many-processes'],
    script: 'ulimit -u 1; (sleep 1 & sleep 1) ; exit 1',
    shell: 'bash',
    unprivileged: true,
  },
  { rules: ['file-size-limit'], script: 'trap "" XFSZ; ulimit -f 1; head -c 100000 /dev/zero >big', shell: 'bash' },
  { rules: ['segmentation-fault', 'exit-139'], script: 'sh -c "kill -SEGV \\$\\$"; exit $?', shell: 'bash' },
  { rules: ['connection-refused'], script: 'curl -sS http://127.0.0.1:1/', needs: ['curl'] },
  { rules: ['connection-refused'], script: 'echo >/dev/tcp/127.0.0.1/1', shell: 'bash' },
  {
    rules: ['connection-refused'],
    script: `node -e 'fetch("http://127.0.0.1:2").catch(e=>{throw e.cause})'`,
    needs: ['node'],
  },
  { rules: ['connection-refused'], script: 'wget -t 1 http://127.0.0.1:1/x', needs: ['wget'] },
  { rules: ['connection-refused'], script: 'psql -h 127.0.0.1 -p 1 -U nobody postgres', needs: ['psql'] },
  { rules: ['connection-refused'], script: 'ssh -o BatchMode=yes -p 1 127.0.0.1 true', needs: ['ssh'] },
  { rules: ['redis-access', 'connection-refused'], script: 'redis-cli -h 127.0.0.1 -p 1 ping', needs: ['redis-cli'] },
  { rules: ['connection-timeout'], script: 'curl -sS -m 1 "$SERVER/silent"', needs: ['curl'] },
  { rules: ['connection-reset'], script: 'curl -sS "$SERVER/cut"', needs: ['curl'] },
  { rules: ['dns-unknown', 'dns-failing'], script: 'curl -sS http://no-such-host.invalid/', needs: ['curl'] },
  { rules: ['dns-unknown', 'dns-failing'], script: 'ssh -o BatchMode=yes no-such-host.invalid true', needs: ['ssh'] },
  { rules: ['dns-unknown', 'dns-failing'], script: 'git clone https://no-such-host.invalid/a.git', needs: ['git'] },
  { rules: ['dns-unknown', 'dns-failing'], script: 'wget -t 1 http://no-such-host.invalid/', needs: ['wget'] },
  {
    rules: ['proxy'],
    script: 'curl -sS -x http://no-such-proxy.invalid:3128 http://example.invalid/',
    needs: ['curl'],
  },
  { rules: ['port-in-use'], script: 'python3 -m http.server --bind 127.0.0.1 "$TAKEN"', needs: ['python3'] },
  {
    rules: ['port-in-use'],
    script: `node -e 'http.createServer().listen(process.env.TAKEN,"127.0.0.1")'`,
    needs: ['node'],
  },
  { rules: ['address-not-available'], script: `node -e 'http.createServer().listen(0,"192.0.2.1")'`, needs: ['node'] },
  { rules: ['http-not-found'], script: 'curl -fsS "$SERVER/404/app.tgz"', needs: ['curl'] },
  { rules: ['http-not-found'], script: 'wget -t 1 "$SERVER/404/app.tgz"', needs: ['wget'] },
  { rules: ['http-unauthorized'], script: 'curl -fsS "$SERVER/401/app.tgz"', needs: ['curl'] },
  { rules: ['http-unauthorized'], script: 'wget -t 1 "$SERVER/403/app.tgz"', needs: ['wget'] },
  { rules: ['http-rate-limit'], script: 'curl -fsS "$SERVER/429/app.tgz"', needs: ['curl'] },
  { rules: ['http-server-error'], script: 'curl -fsS "$SERVER/503/app.tgz"', needs: ['curl'] },
  { rules: ['certificate-untrusted'], script: 'curl -fsS "$SECURE/"', needs: ['curl', 'openssl'] },
  {
    rules: ['certificate-untrusted'],
    script: `node -e 'fetch(process.env.SECURE).catch(e=>{throw e.cause})'`,
    needs: ['node', 'openssl'],
  },
  {
    rules: ['certificate-name'],
    script: 'curl -fsS --cacert "$CERTIFICATE" "$(echo "$SECURE" | sed s/localhost/127.0.0.1/)/"',
    needs: ['curl', 'openssl'],
  },
  { rules: ['tls-handshake'], script: 'curl -sS "$(echo "$SERVER" | sed s/http:/https:/)/"', needs: ['curl'] },
  { rules: ['apt-package-unknown'], script: 'apt-get install -y no-such-package-here', needs: ['apt-get'] },
  { rules: ['dpkg-error', 'file-missing'], script: 'dpkg -i no-such.deb', needs: ['dpkg'] },
  {
    rules: ['npm-not-found'],
    script: 'echo {} >package.json; npm install --registry "$SERVER/404/" --fetch-retries=0 no-such-package-here',
    needs: ['npm'],
  },
  {
    rules: ['npm-missing-script'],
    script: `echo '{"name":"a","version":"1.0.0"}' >package.json; npm run build`,
    needs: ['npm'],
  },
  { rules: ['npm-lockfile'], script: `echo '{"name":"a","version":"1.0.0"}' >package.json; npm ci`, needs: ['npm'] },
  { rules: ['file-missing'], script: 'npm test', needs: ['npm'] },
  {
    rules: ['connection-refused'],
    script: 'echo {} >package.json; npm install --registry http://127.0.0.1:1/ --fetch-retries=0 left-pad',
    needs: ['npm'],
  },
  {
    rules: ['pip-no-version'],
    script: 'python3 -m pip install --disable-pip-version-check --index-url "$SERVER/404/" no-such-package-here',
    needs: ['pip3'],
  },
  {
    rules: ['pip-no-version', 'connection-refused'],
    script:
      'python3 -m pip install --disable-pip-version-check --retries 0 --index-url http://127.0.0.1:1/ requests-none',
    needs: ['pip3'],
  },
  { rules: ['python-module-missing'], script: 'python3 -c "import no_such_module_here"', needs: ['python3'] },
  { rules: ['node-module-missing'], script: `node -e 'require("no-such-module-here")'`, needs: ['node'] },
  { rules: ['node-module-missing'], script: 'node server.js', needs: ['node'] },
  { rules: ['perl-module-missing'], script: 'perl -e "use No::Such::Module;"', needs: ['perl'] },
  { rules: ['make-failed'], script: 'make release', needs: ['make'] },
  { rules: ['make-failed'], script: `printf 'all:\\n\\t@false\\n' >Makefile; make`, needs: ['make'] },
  { rules: ['compile-error'], script: 'echo "int main() { return x; }" >a.c; gcc a.c', needs: ['gcc'] },
  { rules: ['compile-error', 'file-missing'], script: 'echo "#include <none.h>" >a.c; gcc a.c', needs: ['gcc'] },
  { rules: ['python-syntax'], script: 'python3 -c "def broken(:"', needs: ['python3'] },
  { rules: ['python-syntax'], script: 'echo "const = 1" >a.js; node a.js', needs: ['node'] },
  { rules: ['python-exception'], script: 'python3 -c "{}[1]"', needs: ['python3'] },
  { rules: ['node-exception'], script: `node -e 'undefined.x'`, needs: ['node'] },
  { rules: ['java-exception'], script: 'java -jar no-such.jar', needs: ['java'] },
  { rules: ['assertion-failed', 'exit-134'], script: 'sh -c "kill -ABRT \\$\\$"; exit 134' },
  { rules: ['json-invalid'], script: 'echo "<html>" | python3 -m json.tool', needs: ['python3'] },
  { rules: ['json-invalid'], script: `node -e 'JSON.parse("<html>")'`, needs: ['node'] },
  { rules: ['git-not-a-repository'], script: 'git -c safe.directory=* status', needs: ['git'] },
  { rules: ['git-repository-missing', 'git-authentication'], script: 'git clone ./none.git x', needs: ['git'] },
  { rules: ['git-unknown-ref'], script: 'git init -q .; git checkout v9.9.9', needs: ['git'] },
  { rules: ['git-unknown-ref'], script: 'git init -q a; git clone -q --branch v9 a b', needs: ['git'] },
  { rules: ['git-lock'], script: 'git init -q .; touch .git/index.lock a; git add a', needs: ['git'] },
  {
    rules: ['git-local-changes'],
    script: `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
      git init -q .; echo 1 >f; git add f; git commit -qm 1; git checkout -qb other; echo 2 >f; git commit -qam 2
      git checkout -q -; echo 3 >f; git checkout other`,
    needs: ['git'],
  },
  {
    rules: ['git-conflict'],
    script: `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
      git init -q .; echo 1 >f; git add f; git commit -qm 1; git checkout -qb other; echo 2 >f; git commit -qam 2
      git checkout -q -; echo 3 >f; git commit -qam 3; git merge other`,
    needs: ['git'],
  },
  {
    rules: ['git-push-rejected'],
    script: `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
      git init -q --bare s; git clone -q s a; git clone -q s b; for d in a b; do (cd $d; git checkout -qb main; echo $d >f; git add f
      git commit -qm $d); done; git -C a push -q origin main; git -C b push origin main`,
    needs: ['git'],
  },
  {
    rules: ['systemd-absent', 'systemd-unit-missing'],
    script: 'systemctl start no-such-service-here',
    needs: ['systemctl'],
  },
  { rules: ['docker-daemon'], script: 'DOCKER_HOST=unix:///nowhere.sock docker ps', needs: ['docker'] },
  { rules: ['kubernetes-unreachable'], script: 'KUBECONFIG=none kubectl get pods', needs: ['kubectl'] },
  { rules: ['terraform-error'], script: 'terraform plan -input=false -no-color', needs: ['terraform'] },
  { rules: ['exit-124'], script: 'timeout 0.2 sleep 20' },
  { rules: ['exit-137'], script: 'sh -c "kill -KILL \\$\\$"; exit 137' },
  { rules: ['exit-143'], script: 'sh -c "kill -TERM \\$\\$"; exit 143' },
  { rules: ['exit-141'], script: 'set -o pipefail; yes | head -1 >/dev/null', shell: 'bash' },
  { rules: ['exit-130'], script: 'sh -c "kill -INT \\$\\$"; exit 130' },
  { rules: ['exit-132-136'], script: 'sh -c "kill -FPE \\$\\$" 2>/dev/null; exit 136' },
]
