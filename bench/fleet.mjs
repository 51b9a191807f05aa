// Commands on 200 ssh hosts, cold, warm and slow, beside clush, pdsh, xargs with ssh's ControlMaster, and ansible.
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from './cpu.mjs'
import { startFleet } from './peers/sshd.mjs'
import { figure, line, plain } from './report.mjs'
import { interleave, median } from './rounds.mjs'

const HOSTS = Number(process.env.HOSTS ?? 200)
/** Commands at a time, in all contenders. */
const FANOUT = 50
/** Actions of the sequence that tells what one more costs. */
const ACTIONS = 6
const SLEEPS = 3
const PACKAGES = { clush: 'clustershell', pdsh: 'pdsh', ansible: 'ansible-core' }

export async function measureFleet({ suite, database, api, rounds, createAction, createSequence }) {
  const missing = Object.keys(PACKAGES).filter((tool) => !isThere(tool))
  for (const tool of missing) console.error(`${tool} is missing: apt-get install ${PACKAGES[tool]}`)
  const fleet = await startFleet(HOSTS)
  try {
    const peers = peersOf(fleet, missing)
    const slipway = await productOn(fleet, { suite, database, api, createAction, createSequence })
    const cpu = { cold: [], warm: [] }
    const cold = await interleave(
      told('cold', {
        slipway: async () => {
          const { seconds, cpu: used } = await slipway.run(slipway.once)
          cpu.cold.push((used * 1_000) / HOSTS)
          return seconds
        },
        ...peers.cold,
      }),
      rounds,
    )
    const warm = await interleave(
      told('warm', {
        slipway: async () => {
          const once = await slipway.run(slipway.once)
          const often = await slipway.run(slipway.often)
          cpu.warm.push(((often.cpu - once.cpu) * 1_000) / HOSTS / (ACTIONS - 1))
          return (often.seconds - once.seconds) / (ACTIONS - 1)
        },
        ...peers.warm,
      }),
      rounds,
    )
    const fresh = []
    const slow = await interleave(
      told('sleep', {
        slipway: async () => {
          const once = await slipway.run(slipway.sleep)
          const often = await slipway.run(slipway.sleepOften)
          fresh.push(once.seconds)
          return (often.seconds - once.seconds) / (SLEEPS - 1)
        },
        ...peers.sleep,
      }),
      rounds,
    )
    print({ cold, warm, 'sleep 1': slow, 'sleep 1 cold': { slipway: fresh.slice(1) } }, cpu)
    return linesOf({ cold, warm, slow, fresh: fresh.slice(1) }, cpu)
  } finally {
    fleet.stop()
  }
}

/** Each figure as it comes: a round takes minutes on a busy machine. */
function told(what, contenders) {
  return Object.fromEntries(
    Object.entries(contenders).map(([name, run]) => [
      name,
      async () => {
        const seconds = await run()
        console.error(`${what} ${name}: ${seconds.toFixed(2)} s`)
        return seconds
      },
    ]),
  )
}

function linesOf({ cold, warm, slow, fresh }, cpu) {
  const ideal = slow.slipway.map(() => HOSTS / FANOUT)
  const tables = { cold, warm }
  const against = (table, peer, goal, limit) => {
    const { slipway, [peer]: others } = tables[table]
    return others ? [line(goal, `${HOSTS} hosts ${table}, of ${peer}`, slipway, others, limit)] : []
  }
  return [
    ...against('cold', 'clush tuned', 9, '≤ 0.75'),
    ...against('cold', 'ansible raw', 9, '≤ 0.2'),
    ...against('warm', 'xargs + ControlMaster', 10, '≤ 0.5'),
    ...against('warm', 'ansible raw', 10, '≤ 0.1'),
    line(11, 'sleep 1 warm, of the ideal', slow.slipway, ideal, '≤ 1.1'),
    figure('sleep 1 with new connections, s', fresh),
    plain(11, 'CPU of the instance, ms a host, cold', cpu.cold.slice(1), '≤ 6'),
    plain(11, 'CPU of the instance, ms a command, warm', cpu.warm.slice(1), '≤ 1'),
  ]
}

function print(tables, cpu) {
  const round = (value) => Number(value.toFixed(2))
  for (const [what, figures] of Object.entries(tables)) {
    for (const [name, values] of Object.entries(figures)) {
      const [from, to] = [Math.min(...values), Math.max(...values)].map(round)
      console.log(`${what.padEnd(8)} ${name.padEnd(24)} ${round(median(values))} s (${from}–${to})`)
    }
  }
  console.log(
    `CPU of the instance: cold ${round(median(cpu.cold))} ms a host, warm ${round(median(cpu.warm))} ms a command`,
  )
}

/** Deployments over the API, on targets with a pinned host key; from the request to the committed end. */
async function productOn({ hosts, port, user, privateKey }, { suite, database, api, createAction, createSequence }) {
  const target_ids = []
  for (const host of hosts) {
    const connection = { type: 'ssh', host, port, username: user, private_key: privateKey }
    const { status, body } = await api.post('/targets', { name: `fleet-${host}`, connection })
    if (status !== 201) throw new Error(JSON.stringify(body))
    target_ids.push(body.id)
  }
  const action = await createAction(api)
  const sleeping = await createAction(api, { script: 'sleep 1' })
  const common = { target_ids, target_mode: 'parallel' }
  return {
    once: { ...common, action_id: action },
    often: { ...common, sequence_id: await createSequence(api, Array(ACTIONS).fill(action)) },
    sleep: { ...common, action_id: sleeping },
    sleepOften: { ...common, sequence_id: await createSequence(api, Array(SLEEPS).fill(sleeping)) },
    async run(request) {
      const pid = suite.pid('orchestration-instance')
      const cpu = cpuSeconds([pid])
      const since = performance.now()
      const { status, body } = await api.post('/deployments', request)
      if (status !== 201) throw new Error(JSON.stringify(body))
      for (;;) {
        const { rows } = await database.query('SELECT state::text FROM deployments WHERE id = $1', [body.deployment_id])
        if (rows[0].state === 'success') break
        if (rows[0].state !== 'running') throw new Error(`the deployment ended ${rows[0].state}`)
        await sleep(50)
      }
      return { seconds: (performance.now() - since) / 1_000, cpu: cpuSeconds([pid]) - cpu }
    },
  }
}

function peersOf({ folder, hosts, port, user, clientKey }, missing) {
  const file = path.join(folder, 'hosts')
  fs.writeFileSync(file, `${hosts.join('\n')}\n`)
  const options = `-p ${port} -l ${user} -i ${clientKey} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR`
  const tuned = `${options} -o KexAlgorithms=curve25519-sha256 -o Ciphers=aes128-gcm@openssh.com -o PreferredAuthentications=publickey -o GSSAPIAuthentication=no`
  const master = `${tuned} -o ControlMaster=auto -o ControlPersist=60 -o ControlPath=${folder}/m-%h`
  const inventory = path.join(folder, 'inventory')
  const vars = `ansible_port=${port} ansible_user=${user} ansible_ssh_private_key_file=${clientKey}`
  fs.writeFileSync(inventory, `${hosts.map((host) => `${host} ${vars}`).join('\n')}\n`)
  const ansible = (path) =>
    `ANSIBLE_HOST_KEY_CHECKING=False ANSIBLE_SSH_CONTROL_PATH_DIR=${folder}/${path} ansible all -i ${inventory} -f ${FANOUT} -m raw -a true`
  const clush = (command, with_ = tuned) => `clush -q -f ${FANOUT} -w ${hosts.join(',')} -o '${with_}' ${command}`
  const pdsh = (command) => `pdsh -R exec -f ${FANOUT} -w ^${file} ssh ${tuned} %h ${command}`
  const xargs = (command, with_) => `xargs -a ${file} -P ${FANOUT} -I{} ssh ${with_} {} ${command}`
  const without = (figures) =>
    Object.fromEntries(Object.entries(figures).filter(([name]) => !missing.includes(name.split(' ')[0])))
  let warmed = false
  let colds = 0
  return {
    cold: without({
      'clush tuned': () => timed(clush('true')),
      'clush default': () => timed(clush('true', options)),
      pdsh: () => timed(pdsh('true')),
      // A folder of its own for its masters: none is there yet.
      'ansible raw': () => {
        colds += 1
        return timed(ansible(`cold-${colds}`))
      },
    }),
    warm: without({
      'xargs + ControlMaster': async () => {
        await timed(xargs('true', master))
        return timed(xargs('true', master))
      },
      'ansible raw': async () => {
        if (!warmed) await timed(ansible('warm'))
        warmed = true
        return timed(ansible('warm'))
      },
    }),
    sleep: without({
      'clush tuned': () => timed(clush('sleep 1')),
      'xargs + ControlMaster': () => timed(xargs('sleep 1', master)),
    }),
  }
}

const isThere = (tool) => {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Seconds that a command line takes; it has to succeed. */
function timed(command) {
  const since = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', (text) => {
      complaint = `${complaint}${text}`.slice(-2_000)
    })
    child.on('exit', (code) => {
      const seconds = (performance.now() - since) / 1_000
      if (code === 0) resolve(seconds)
      else reject(new Error(`${command.slice(0, 200)}… ended with ${code}: ${complaint}`))
    })
  })
}
