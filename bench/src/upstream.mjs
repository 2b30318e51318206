/**
 * The upstream for streams and large bodies: raw sockets, answers made once, one timer for all streams. `/stream` sends 200
 * chunks at 50 a second, `/slow` 20 chunks at one a second; streams are spread over the time between two chunks, as in
 * real life. `/unread` sends chunks without end, as fast as they are taken, once no more of these streams have begun for
 * three seconds. `/body` reads the whole request and then answers.
 */
import { createServer } from 'node:net'
import { chunkEvent, MODES, smallAnswer } from './answers.mjs'
import { requestReader } from './request-reader.mjs'

const PACES = [
  { prefix: MODES.stream.prefix, chunks: 200, everyMs: 20 },
  { prefix: MODES.slow.prefix, chunks: 20, everyMs: 1_000 },
]
const HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
)
const framed = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const CHUNK = Buffer.from(framed(chunkEvent({ content: ' and the kettle sings in the kitchen' })))
const FIRST = Buffer.concat([HEAD, Buffer.from(framed(chunkEvent({ role: 'assistant', content: 'Well' })))])
const MANY = Buffer.concat(Array.from({ length: 32 }, () => CHUNK))
const LAST = Buffer.from(
  [
    framed(chunkEvent({}, { finish: 'stop' })),
    framed(
      chunkEvent(
        {},
        { finish: 'none', usage: { prompt_tokens: 60, completion_tokens: 180, total_tokens: 240 } },
      ),
    ),
    framed('data: [DONE]\n\n'),
    '0\r\n\r\n',
  ].join(''),
)

/** Streams by the millisecond of the period they are due in. */
const wheels = PACES.map(({ everyMs }) => Array.from({ length: everyMs }, () => new Set()))
let nextSlot = 0

function begin(socket, pace) {
  const at = PACES.indexOf(pace)
  nextSlot += 1
  const slot = wheels[at][nextSlot % pace.everyMs]
  const stream = { socket, left: pace.chunks - 1 }
  slot.add(stream)
  socket.once('close', () => slot.delete(stream))
  socket.write(FIRST)
}

/** Streams that wait until all have begun: what fills the buffers of the system leaves no room for new connections. */
let waiting = []
let quiet

function beginUnread(socket) {
  socket.write(FIRST)
  waiting.push(socket)
  clearTimeout(quiet)
  quiet = setTimeout(() => {
    for (const one of waiting) pour(one)
    waiting = []
  }, 3_000)
}

/** As many chunks as are taken, until somebody ends it. */
function pour(socket) {
  const more = () => {
    while (!socket.destroyed && socket.write(MANY));
  }
  socket.on('drain', more)
  more()
}

function tickSlot(slot) {
  for (const stream of slot) {
    if (stream.left > 0) {
      stream.left -= 1
      stream.socket.write(CHUNK)
    } else {
      slot.delete(stream)
      stream.socket.write(LAST)
    }
  }
}

let ticked = Math.floor(performance.now())
setInterval(() => {
  const now = Math.floor(performance.now())
  for (; ticked < now; ticked += 1) for (const wheel of wheels) tickSlot(wheel[ticked % wheel.length])
}, 1)

const WHOLE = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(smallAnswer())}\r\n\r\n${smallAnswer()}`,
)
const UNKNOWN = Buffer.from('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')

function serve(socket) {
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on(
    'data',
    requestReader((head) => {
      const pace = PACES.find(({ prefix }) => head.includes(` ${prefix}/`))
      if (pace !== undefined) begin(socket, pace)
      else if (head.includes(` ${MODES.unread.prefix}/`)) beginUnread(socket)
      else socket.write(head.includes(` ${MODES.body.prefix}/`) ? WHOLE : UNKNOWN)
    }),
  )
}

const server = createServer(serve)
server.listen({ port: 0, host: '127.0.0.1', backlog: 8_192 }, () => {
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`)
})
