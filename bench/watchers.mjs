// A process of its own that reads streams: forked with the URLs to open; says `open` when all have begun, and tells on
// `report` what has come since the last one.
import http from 'node:http'
import { quantile } from './rounds.mjs'

const SEQ = '"seq":'
const TAIL = 48
const SENT = '"message":"@'
const watchers = []
let latencies = []

/** When the last line of these bytes that is whole was written; undefined when there is none. */
function lastSent(chunk) {
  const at = chunk.lastIndexOf(SENT)
  if (at === -1 || at + SENT.length + 20 > chunk.length) return undefined
  return Number.parseFloat(chunk.latin1Slice(at + SENT.length, at + SENT.length + 20))
}

function open(url) {
  const watcher = { last: -1, ended: false, tail: '' }
  watchers.push(watcher)
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${response.statusCode}`))
      response.on('data', (chunk) => {
        resolve()
        // A line ends with its number, which may come in two pieces.
        watcher.tail = (watcher.tail + chunk.latin1Slice(Math.max(0, chunk.length - TAIL))).slice(-TAIL)
        const at = watcher.tail.lastIndexOf(SEQ)
        const seq = at === -1 ? -1 : Number.parseInt(watcher.tail.slice(at + SEQ.length), 10)
        if (seq > watcher.last) watcher.last = seq
        const sent = lastSent(chunk)
        if (sent !== undefined) latencies.push(performance.timeOrigin + performance.now() - sent)
      })
      response.on('error', () => {})
      response.on('close', () => {
        watcher.ended = true
      })
    })
    request.on('error', reject)
  })
}

/** Reads its first bytes and then nothing more. */
function openStalled(url) {
  return new Promise((resolve) => {
    http
      .get(url, { agent: false }, (response) => {
        response.once('data', () => {
          response.pause()
          resolve()
        })
        response.on('error', () => {})
      })
      .on('error', () => {})
  })
}

process.on('message', async ({ what, urls, stall }) => {
  if (what === 'open') {
    // Some at a time: what is measured is listening.
    for (let n = 0; n < urls.length; n += 25) await Promise.all(urls.slice(n, n + 25).map(stall ? openStalled : open))
    process.send('open')
  }
  if (what === 'report') {
    const last = Math.min(...watchers.map((watcher) => watcher.last))
    process.send({ last, p99: quantile(latencies, 0.99) ?? 0, ended: watchers.filter((w) => w.ended).length })
    latencies = []
  }
})

process.on('disconnect', () => process.exit())
