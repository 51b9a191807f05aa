// Shop 1.0.0: one page with a price.
import { createServer } from 'node:http'

const { PORT, REGION } = process.env
const version = '1.0.0'

const price = () => '12.00'

const routes = {
  '/': () => `Shop ${version}: a book costs ${price()}\n`,
  '/health': () => {
    price()
    return JSON.stringify({ status: 'ok', version })
  },
}

createServer((request, response) => {
  try {
    response.end(routes[request.url]?.() ?? 'There is no such page.\n')
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ status: 'failing', version, error: error.message }))
  }
}).listen(Number(PORT), '127.0.0.1', () => console.log(`shop ${version} for ${REGION}: listening on ${PORT}`))
