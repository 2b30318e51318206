/** The upstream of the event loop's measure, in a process of its own: what it answers is named in what it is asked. */
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'

const MB = 1_000_000
const text = (bytes) =>
  'All work and no play makes a dull gateway. '.repeat(Math.ceil(bytes / 43)).slice(0, bytes)
const members = () => Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, at]))
const tasks = new Map()

const server = createServer((request, response) => {
  let seen = ''
  request.on('data', (chunk) => (seen += seen.length < 4096 ? chunk.toString('latin1') : ''))
  request.on('end', () => {
    const json = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    if (/tasks|\/videos/.test(request.url)) return json(200, { id: 'task', status: 'queued' })
    if (request.url.includes('/responses')) return json(200, background(request))
    const isMessages = request.url.includes('/messages')
    const answer = whole(isMessages, seen)
    if (seen.includes('large-error')) return json(400, { error: { message: text(50 * MB), type: 'bad' } })
    if (seen.includes('-event')) return stream(response, isMessages, seen)
    if (seen.includes('packed-answer')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(JSON.stringify(answer)))
      return
    }
    if (seen.includes('unfinished-answer')) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(JSON.stringify(answer).slice(0, -40))
      return
    }
    json(200, answer)
  })
})

function whole(isMessages, seen) {
  const long = /large-answer|large-unmetered|unfinished-answer|packed-answer/.test(seen)
  const content = long ? text(50 * MB) : 'ok'
  const usage = seen.includes('large-unmetered') ? {} : { usage: { input_tokens: 5, output_tokens: 5 } }
  const extra = seen.includes('members-answer') ? { extra: members() } : {}
  return isMessages
    ? {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'x',
        content: [{ type: 'text', text: content }],
        stop_reason: 'end_turn',
        ...usage,
        ...extra,
      }
    : {
        id: 'c',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      }
}

/** One event that is large in itself, between small ones. */
function stream(response, isMessages, seen) {
  const content = seen.includes('large-event') ? text(40 * MB) : 'ok'
  const extra = seen.includes('members-event') ? { extra: members() } : {}
  const images = seen.includes('picture-event')
    ? { images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(40 * MB)}` } }] }
    : {}
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (data, event) =>
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
  if (isMessages) {
    const typed = (type, data) => say({ type, ...data }, type)
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [],
      usage: { input_tokens: 5, output_tokens: 1 },
    }
    typed('message_start', { message })
    typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
    typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text: content }, ...extra })
    typed('content_block_stop', { index: 0 })
    typed('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } })
    typed('message_stop', {})
    response.end()
    return
  }
  const chunk = (choice) => ({
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'x',
    choices: [{ index: 0, ...choice }],
  })
  say({ ...chunk({ delta: { role: 'assistant', content, ...images } }), ...extra })
  say(chunk({ delta: {}, finish_reason: 'stop' }))
  response.end('data: [DONE]\n\n')
}

/** Queued when it is ordered, finished when it is asked for. */
function background(request) {
  const id = /responses\/([^/?]+)/.exec(request.url)?.[1]
  const made = { id: id ?? `resp_up_${tasks.size}`, object: 'response', background: true, model: 'x' }
  if (id === undefined) {
    tasks.set(made.id, made)
    return { ...made, status: 'queued', output: [] }
  }
  const content = [{ type: 'output_text', text: text(30 * MB), annotations: [] }]
  const output = [{ type: 'message', id: 'msg', role: 'assistant', status: 'completed', content }]
  return {
    ...made,
    status: 'completed',
    output,
    usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
  }
}

server.listen(0, '127.0.0.1', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
