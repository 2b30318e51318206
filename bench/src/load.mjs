/**
 * The load generator: raw sockets, one request in flight on each. It is a process of its own, told what to do by one JSON
 * argument, and prints one line of JSON.
 *   closed   as many as the other side answers, on `connections`
 *   open     `rate` a second, whatever comes back; latencies count from the moment a request was due
 *   once     one request as large as may be
 *   streams  `connections` streams at once, each read to its end
 *   unread   `connections` streams of which nothing is read, kept until the standard input ends
 */
import { connect } from 'node:net'
import {
  embedMegabyteRequest,
  embedSmallRequest,
  imageSmallRequest,
  largeRequest,
  largestRequest,
  megabyteRequest,
  smallRequest,
  streamRequest,
} from './answers.mjs'

const BODIES = {
  small: smallRequest,
  body: largeRequest,
  megabyte: megabyteRequest,
  'embed-small': embedSmallRequest,
  'embed-megabyte': embedMegabyteRequest,
  'image-small': imageSmallRequest,
  largest: largestRequest,
  stream: streamRequest,
  slow: streamRequest,
  unread: streamRequest,
}
const CONNECT_BATCH = 100
const IDLE_MS_MAX = 30_000

const job = JSON.parse(process.argv[2])
const request = requestBytes(job)
const results = await { closed, open, once, streams, unread }[job.kind](job)
process.stdout.write(`${JSON.stringify(results)}\n`)
process.exit(0)

function requestBytes({ mode, target }) {
  const body = Buffer.from(BODIES[mode](target.model))
  const headers = Object.entries({
    host: `127.0.0.1:${target.port}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    ...target.headers,
  })
  const head = `POST ${target.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

async function closed({ target, connections, seconds }) {
  const lanes = await openLanes(target, connections)
  let answered = 0
  let failed = 0
  const until = performance.now() + seconds * 1_000
  const startedAt = performance.now()
  await Promise.all(
    lanes.map(async (first) => {
      let lane = first
      while (performance.now() < until) {
        const { status } = await lane.exchange(request)
        if (status === 200) answered += 1
        else failed += 1
        if (status === 0) lane = await openLane(target.port)
      }
      lane.close()
    }),
  )
  return { answered, failed, seconds: (performance.now() - startedAt) / 1_000 }
}

async function open({ target, connections, seconds, rate }) {
  const lanes = await openLanes(target, connections)
  const free = [...lanes]
  const waiting = []
  const latencies = []
  let failed = 0
  let due = 0
  const total = Math.floor(rate * seconds)
  const startedAt = performance.now()
  const send = (lane, dueAt) => {
    lane.exchange(request).then(({ status }) => {
      if (status === 200) latencies.push(performance.now() - dueAt)
      else failed += 1
      const next = waiting.shift()
      if (next === undefined) free.push(lane)
      else send(lane, next)
    })
  }
  await new Promise((resolve) => {
    const timer = setInterval(() => {
      for (const now = performance.now(); due < total && startedAt + (due * 1_000) / rate <= now; due += 1) {
        const lane = free.pop()
        // The timer is late by up to a millisecond for everybody alike, so what counts begins when it fires.
        if (lane === undefined) waiting.push(performance.now())
        else send(lane, performance.now())
      }
      if (due === total && free.length === lanes.length) {
        clearInterval(timer)
        resolve()
      }
    }, 1)
  })
  for (const lane of lanes) lane.close()
  latencies.sort((one, other) => one - other)
  const quantile = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]
  return { answered: latencies.length, failed, p50: quantile(0.5), p90: quantile(0.9), p99: quantile(0.99) }
}

async function once({ target }) {
  const lane = await openLane(target.port)
  const startedAt = performance.now()
  const { status } = await lane.exchange(request)
  lane.close()
  return { failed: status === 200 ? 0 : 1, seconds: (performance.now() - startedAt) / 1_000 }
}

async function streams({ target, connections }) {
  const lanes = await openLanes(target, connections)
  const startedAt = performance.now()
  const ends = await Promise.all(lanes.map((lane) => lane.exchange(request)))
  for (const lane of lanes) lane.close()
  return {
    complete: ends.filter(({ status, done }) => status === 200 && done).length,
    failed: ends.filter(({ status, done }) => status !== 200 || !done).length,
    chunks: ends.reduce((sum, { chunks }) => sum + chunks, 0),
    seconds: (performance.now() - startedAt) / 1_000,
  }
}

async function unread({ target, connections }) {
  const sockets = await inBatches(connections, () => askWithoutReading(target.port))
  await new Promise((resolve) => process.stdin.once('end', resolve).resume())
  const failed = sockets.filter(({ destroyed }) => destroyed).length
  for (const socket of sockets) socket.destroy()
  return { failed }
}

/** What arrives stays in the buffers of the system, and is then held back. */
function askWithoutReading(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.pause()
    socket.once('error', reject)
    socket.once('connect', () => socket.write(request, () => resolve(socket)))
  })
}

function openLanes({ port }, count) {
  return inBatches(count, () => openLane(port))
}

/** `count` of what `connectOne` resolves to: all at once would overflow the queue of the server. */
async function inBatches(count, connectOne) {
  const opened = []
  while (opened.length < count) {
    const batch = Math.min(CONNECT_BATCH, count - opened.length)
    opened.push(...(await Promise.all(Array.from({ length: batch }, connectOne))))
  }
  return opened
}

/** One connection; `exchange` sends a request and resolves when its answer is whole, or the connection broke. */
function openLane(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let current
    const end = (outcome) => {
      const { finish } = current ?? {}
      current = undefined
      finish?.(outcome)
    }
    socket.on('data', (data) => {
      const reading = current
      if (reading === undefined) return
      const outcome = reading.read(data)
      if (outcome !== undefined) end(outcome)
    })
    const broken = () => end({ status: 0, done: false, chunks: 0 })
    socket.once('close', broken)
    socket.once('error', (error) => {
      broken()
      reject(error)
    })
    socket.setTimeout(IDLE_MS_MAX, () => socket.destroy())
    socket.once('connect', () =>
      resolve({
        exchange: (bytes) =>
          new Promise((finish) => {
            if (socket.destroyed) {
              finish({ status: 0, done: false, chunks: 0 })
              return
            }
            current = { finish, read: answerReader() }
            socket.write(bytes)
          }),
        close: () => socket.destroy(),
      }),
    )
  })
}

/** Reads one answer as it arrives: status, length or chunks, and of a stream its events and whether it ended as it should. */
function answerReader() {
  let head
  let begun = Buffer.alloc(0)
  let status = 0
  let remaining = 0
  let chunked = false
  let chunks = 0
  let tail = ''
  return (data) => {
    let bytes = data
    if (head === undefined) {
      bytes = begun.length === 0 ? bytes : Buffer.concat([begun, bytes])
      const end = bytes.indexOf('\r\n\r\n')
      if (end === -1) {
        begun = bytes
        return undefined
      }
      head = bytes.latin1Slice(0, end)
      status = Number(head.slice(9, 12))
      chunked = /\r\ntransfer-encoding: *chunked/i.test(head)
      remaining = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      bytes = bytes.subarray(end + 4)
    }
    if (!chunked) {
      remaining -= bytes.length
      return remaining <= 0 ? { status, done: true, chunks: 0 } : undefined
    }
    chunks += eventsIn(bytes)
    tail = (tail + bytes.latin1Slice(Math.max(0, bytes.length - 64))).slice(-64)
    return tail.endsWith('0\r\n\r\n')
      ? { status, done: /\[DONE\]|message_stop/.test(tail), chunks }
      : undefined
  }
}

function eventsIn(bytes) {
  let count = 0
  for (let at = bytes.indexOf('data: '); at !== -1; at = bytes.indexOf('data: ', at + 6)) count += 1
  return count
}
