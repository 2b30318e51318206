/**
 * Orders videos and waits for all of them, each on a connection of its own, as synchronous clients do. Told what to do by one
 * JSON argument, prints one line of JSON.
 */
import { connect } from 'node:net'

const { target, tasks, ordersPerSecond } = JSON.parse(process.argv[2])
const body = JSON.stringify({
  model: target.model,
  prompt: 'a kettle that sings',
  seconds: '4',
  size: '1280x720',
})
const headers = Object.entries({
  host: `127.0.0.1:${target.port}`,
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
  connection: 'close',
  ...target.headers,
})
const request = `POST ${target.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`

const startedAt = performance.now()
const answers = await Promise.all(Array.from({ length: tasks }, (_, index) => order(index)))
const finished = answers.filter(({ ok }) => ok)
const urls = new Set(finished.map(({ id }) => id))
process.stdout.write(
  `${JSON.stringify({
    finished: urls.size,
    failed: tasks - finished.length,
    firstFailure: answers.find(({ ok }) => !ok)?.text.slice(0, 300),
    seconds: (performance.now() - startedAt) / 1_000,
    longestSeconds: Math.max(...answers.map(({ seconds }) => seconds)),
  })}\n`,
)
process.exit(0)

async function order(index) {
  await new Promise((resolve) => setTimeout(resolve, (index / ordersPerSecond) * 1_000))
  const orderedAt = performance.now()
  const text = await exchange()
  const seconds = (performance.now() - orderedAt) / 1_000
  const id = /"id":\s*"(video_[^"]+)"/.exec(text)?.[1]
  const ok = text.startsWith('HTTP/1.1 200 ') && /"status":\s*"completed"/.test(text) && id !== undefined
  return { ok, id, text, seconds }
}

function exchange() {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(target.port, '127.0.0.1')
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    socket.on('error', (error) => resolve(`${text}${error.message}`))
    socket.on('close', () => resolve(text))
    socket.write(request)
  })
}
