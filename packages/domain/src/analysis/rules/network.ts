import { type Rule, rulesOf } from '../rule.ts'

export const NETWORK: readonly Rule[] = rulesOf('network', [
  {
    id: 'connection-refused',
    hints: ['connection refused', 'econnrefused', "couldn't connect to server", 'could not connect to server'],
    pattern: /connection refused|\bECONNREFUSED\b|couldn't connect to server/i,
    confidence: 0.92,
    title: 'A connection was refused',
    cause: 'The host is up, but nothing listens at that address and port, or a firewall rejects the connection.',
    remediation: [
      'Check on that host that the service runs, and its address: `ss -ltnp`',
      'Check host and port in the settings; wait for the service to be ready before calling it',
    ],
  },
  {
    id: 'connection-timeout',
    hints: ['timed out', 'etimedout', 'timeout was reached', 'read timeout', 'connect timeout', 'i/o timeout'],
    pattern:
      /connection timed out|operation timed out|\bETIMEDOUT\b|(?:read|connect(?:ion)?) time(?:d )?out|timeout was reached|connect(?:ion)? timeout|i\/o timeout/i,
    confidence: 0.9,
    title: 'A server did not answer in time',
    cause: 'It is down or overloaded, the address is wrong, or a firewall drops the packets.',
    remediation: [
      'Try from the same machine: `nc -vz HOST PORT`',
      'Check routes, firewalls and proxies between the machines',
    ],
  },
  {
    id: 'dns-unknown',
    hints: [
      'could not resolve',
      'name or service not known',
      'enotfound',
      'unknown host',
      'nodename nor servname',
      'no such host',
      'unable to resolve',
      'nxdomain',
      'unknownhostexception',
    ],
    pattern:
      /could not resolve (?:host|proxy|'[\w.-]{1,255}')|name or service not known|\bENOTFOUND\b|unknown host\b|nodename nor servname|no such host|unable to resolve|NXDOMAIN|UnknownHostException/i,
    confidence: 0.93,
    title: 'A host name could not be resolved',
    cause: 'The name is misspelt, or the name server of this machine does not know it.',
    remediation: ['Try on the target: `getent hosts NAME`; look at /etc/resolv.conf and /etc/hosts'],
  },
  {
    id: 'dns-failing',
    hints: ['temporary failure in name resolution', 'eai_again', 'temporary failure resolving'],
    pattern: /temporary failure (?:in name resolution|resolving)|\bEAI_AGAIN\b/i,
    confidence: 0.94,
    title: 'The name server does not answer',
    cause:
      'No name can be resolved at the moment: the name server is down, wrong, or cannot be reached from the target.',
    remediation: [
      'Look at /etc/resolv.conf, then try each server: `dig @SERVER NAME`',
      'Allow max_retries if it passes',
    ],
  },
  {
    id: 'no-route',
    hints: [
      'no route to host',
      'network is unreachable',
      'host is unreachable',
      'ehostunreach',
      'enetunreach',
      'network unreachable',
    ],
    pattern: /no route to host|(?:network|host) is unreachable|network unreachable|\bEHOSTUNREACH\b|\bENETUNREACH\b/i,
    confidence: 0.94,
    title: 'There is no route to a host or network',
    cause: 'A route is missing, the host is off, IPv6 has no connection, or a firewall rejects the packets.',
    remediation: ['Look at `ip route get ADDRESS` and `ip address`; check firewall and VPN'],
  },
  {
    id: 'connection-reset',
    hints: [
      'connection reset',
      'econnreset',
      'broken pipe',
      'epipe',
      'empty reply from server',
      'socket hang up',
      'connection was closed',
      'server closed the connection',
    ],
    pattern:
      /connection (?:was )?reset|\bECONNRESET\b|broken pipe|\bEPIPE\b|empty reply from server|socket hang up|server closed the connection unexpectedly/i,
    confidence: 0.87,
    title: 'The other side closed a connection',
    cause: 'A server, proxy or firewall closed it: it crashed, was restarted, or refused the request.',
    remediation: ['Look at the log of the server or proxy at that time', 'Allow max_retries if it passes'],
  },
  {
    id: 'port-in-use',
    hints: ['address already in use', 'address in use', 'eaddrinuse', 'port', 'socket address'],
    pattern:
      /address (?:already )?in use|\bEADDRINUSE\b|\bports?\b.{0,60}\b(?:in use|taken|allocated|occupied|not available)\b|already (?:running|listening) on port|only one usage of each socket address/i,
    confidence: 0.95,
    title: 'The port is already in use',
    cause: 'Another program, often the previous version, still listens at that address and port.',
    remediation: ['Find it: `ss -ltnp | grep :PORT`; stop it first, or choose another port'],
  },
  {
    id: 'address-not-available',
    hints: ['cannot assign requested address', 'eaddrnotavail', "can't assign requested address"],
    pattern: /can(?:not|'t) assign requested address|\bEADDRNOTAVAIL\b/i,
    confidence: 0.93,
    title: 'The machine does not have that address',
    cause: 'No network interface has the address, or no free local port is left.',
    remediation: ['Compare with `ip address`; listen at 0.0.0.0 or the right one; look at `ss -s` for used-up ports'],
  },
  {
    id: 'http-unauthorized',
    distinct: true,
    hints: ['401', '403', '407'],
    pattern:
      /(?:\bHTTP\b|returned error|request error|status(?: code)?|response|ERROR|npm error code E|server replied).{0,40}\b(?:401|403|407)\b|\bE40[13]\b|(?:401 Unauthorized|403 Forbidden)/i,
    confidence: 0.9,
    title: 'A server refused the credentials (HTTP 401 or 403)',
    cause:
      'The token, key or password is missing, wrong, expired, or has no permission; a proxy may need its own (407).',
    remediation: [
      'Check the variable that holds the credential, its scope and its expiry',
      'Try the same call manually with the credential',
    ],
  },
  {
    id: 'http-not-found',
    distinct: true,
    hints: ['404'],
    pattern:
      /(?:\bHTTP\b|returned error|request error|status(?: code)?|response|(?<!npm )error|server replied).{0,40}\b404\b|404\s+not found/i,
    confidence: 0.9,
    title: 'A server does not have the requested resource (HTTP 404)',
    cause: 'The URL or version is wrong, the resource was not published or was removed, or access needs a login.',
    remediation: ['Check name and version, and that it was published; try the URL manually'],
  },
  {
    id: 'http-rate-limit',
    hints: ['429', 'toomanyrequests', 'rate limit'],
    pattern: /\b429\b|toomanyrequests|rate limit(?:ed| exceeded|ing)/i,
    confidence: 0.9,
    title: 'A server refused a request because of a rate limit',
    cause: 'The rate limit for this address or account is reached, often because many targets fetch at once.',
    remediation: ['Log in, use a mirror, or deliver the file with `files`', 'Run fewer targets at once (rolling)'],
  },
  {
    id: 'http-server-error',
    hints: ['500', '502', '503', '504', 'bad gateway', 'service unavailable', 'gateway time-out'],
    pattern:
      /(?:\bHTTP\b|returned error|request error|status(?: code)?|response|ERROR|server replied).{0,40}\b50[0234]\b|502 Bad Gateway|503 Service Unavailable|504 Gateway Time-?out/i,
    confidence: 0.9,
    title: 'A server answered with an internal error (HTTP 5xx)',
    cause: 'The server, or a server behind it, is down, overloaded or broken.',
    remediation: ['Look at the state and the log of that server', 'Allow max_retries if it passes'],
  },
  {
    id: 'proxy',
    hints: ['proxy'],
    pattern:
      /could not resolve proxy|proxy connect|proxy authentication required|tunneling socket could not be established|cannot connect to proxy|unable to connect to proxy/i,
    confidence: 0.94,
    title: 'The proxy could not be used',
    cause: 'The proxy in http_proxy or https_proxy is wrong or down, or needs a password.',
    remediation: ['Check http_proxy, https_proxy and no_proxy in env, and whether that host needs the proxy at all'],
  },
  {
    id: 'health-check',
    distinct: true,
    hints: ['health check', 'healthcheck', 'unhealthy', 'not healthy', 'did not become ready', 'never became'],
    pattern:
      /health ?check.{0,60}(?:fail|timed? ?out|unhealthy)|\bunhealthy\b|not healthy|(?:did not|never) bec[ao]me (?:ready|healthy)/i,
    confidence: 0.82,
    title: 'The deployed service does not become healthy',
    cause:
      'The service started, but its health check fails: it crashed, a dependency is missing, or the start is slow.',
    remediation: [
      'Read the log of the service since its start',
      'If the start is only slow, allow more time; else roll back',
    ],
  },
])
