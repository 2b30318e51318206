/**
 * The vendor of the video comparison, in OpenAI's form: a task is done `renderMs` after it was ordered, its video is behind
 * the key. It keeps count of what it was asked, and of polls that came sooner after the one before than it allows.
 *   node bench/src/video-vendor.mjs <renderMs>   prints its port; GET /figures tells the counts
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

/** The form's guide says every 10 seconds at the earliest; the gateway's jitter takes a fifth off at most. */
const POLL_MS_MIN = 8_000
const VIDEO = randomBytes(32 * 1_024)

const renderMs = Number(process.argv[2])
const tasks = new Map()
const figures = { ordered: 0, polls: 0, tooEarly: 0, videos: 0, unknown: 0 }

createServer((request, response) => {
  request.resume()
  request.once('end', () => answer(request, response))
}).listen(0, '127.0.0.1', function () {
  process.stdout.write(`${JSON.stringify({ port: this.address().port })}\n`)
})

function answer({ method, url }, response) {
  if (url === '/figures') return json(response, figures)
  if (method === 'POST') return order(response)
  const [, id = '', tail] = /\/videos\/([^/?]+)(\/content)?/.exec(url) ?? []
  const task = tasks.get(id)
  if (task === undefined) {
    figures.unknown += 1
    response.writeHead(404).end()
  } else if (tail !== undefined) {
    figures.videos += 1
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': VIDEO.length }).end(VIDEO)
  } else poll(id, task, response)
}

function order(response) {
  figures.ordered += 1
  const id = `made_${figures.ordered}`
  const now = performance.now()
  tasks.set(id, { orderedAt: now, askedAt: now })
  json(response, { id, object: 'video', status: 'queued', progress: 0 })
}

function poll(id, task, response) {
  const now = performance.now()
  figures.polls += 1
  if (now - task.askedAt < POLL_MS_MIN) figures.tooEarly += 1
  task.askedAt = now
  const progress = Math.min(100, Math.floor(((now - task.orderedAt) / renderMs) * 100))
  json(response, { id, object: 'video', status: progress === 100 ? 'completed' : 'in_progress', progress })
}

function json(response, body) {
  const text = JSON.stringify(body)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
