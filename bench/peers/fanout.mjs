// A stream and nothing else: whoever asks is sent what comes in, as one buffer, as fast as each takes it. Lines come as POST
// bodies that hold frames. PORT on stdout.
import http from 'node:http'

const clients = new Set()
const server = http.createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write('data: {"event":"ping","data":{"type":"ping"}}\n\n')
    clients.add(response)
    response.on('close', () => clients.delete(response))
    return
  }
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', async () => {
    const bytes = Buffer.concat(chunks)
    const drains = []
    for (const client of clients) {
      if (!client.write(bytes)) drains.push(new Promise((resolve) => client.once('drain', resolve)))
    }
    await Promise.all(drains)
    response.end()
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))

// Ends with whoever started it.
process.stdin.resume()
process.stdin.on('end', () => process.exit())
