/**
 * node bench/upstream.mjs [small] [stream] [large] [--rounds 7] [--seconds 2]
 *
 * CPU of calls outward alone, by the client of our own and by undici, in turn in one process; the upstream is another
 * process. Small: an answer of 1.2 KB with the head of a vendor. Stream: 50 chunks of an answer, 32 calls at once.
 * Large: 5 MB with a length.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { bundleProgram } from '../tools/project/bundle-program.mjs'
import { root } from '../tools/project/tree.mjs'
import { smallAnswer } from './src/answers.mjs'

const CHUNKS = 50
const WORK = {
  small: { atOnce: 64, per: 'call', units: 1 },
  stream: { atOnce: 32, per: 'chunk', units: CHUNKS },
  large: { atOnce: 4, per: 'call', units: 1 },
}
const HEAD = [
  'HTTP/1.1 200 OK',
  'Date: Mon, 23 Nov 2026 10:00:00 GMT',
  'Content-Type: application/json',
  'Connection: keep-alive',
  'access-control-expose-headers: X-Request-ID',
  'openai-organization: org-0123456789',
  'openai-processing-ms: 412',
  'openai-version: 2020-10-01',
  'x-ratelimit-limit-requests: 30000',
  'x-ratelimit-limit-tokens: 150000000',
  'x-ratelimit-remaining-requests: 29999',
  'x-ratelimit-remaining-tokens: 149999799',
  'x-ratelimit-reset-requests: 2ms',
  'x-ratelimit-reset-tokens: 0s',
  'x-request-id: req_0123456789abcdef0123456789abcdef',
  'strict-transport-security: max-age=31536000; includeSubDomains; preload',
  'x-content-type-options: nosniff',
  'Server: vendor',
]

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    serve: { type: 'string' },
  },
})
await (values.serve === undefined ? measure() : serve(values.serve))

/** The upstream: as many chunks as one look at the socket takes would hide what a chunk costs, so each goes out alone. */
async function serve(work) {
  const small = smallAnswer()
  const head = (framing) => Buffer.from(`${HEAD.join('\r\n')}\r\n${framing}\r\n\r\n`)
  const whole = (body) => Buffer.concat([head(`content-length: ${body.length}`), body])
  const answers = { small: whole(Buffer.from(small)), large: whole(Buffer.alloc(5_000_000, small)) }
  const event = `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`
  const chunk = `${event.length.toString(16)}\r\n${event}\r\n`
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes) => {
      if (!bytes.includes('\r\n\r\n')) return
      if (work !== 'stream') {
        socket.write(answers[work])
        return
      }
      socket.write(head('transfer-encoding: chunked'))
      let left = CHUNKS
      const timer = setInterval(() => {
        left -= 1
        socket.write(left < 0 ? '0\r\n\r\n' : chunk)
        if (left < 0) clearInterval(timer)
      }, 2)
    })
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
}

async function measure() {
  const outfile = join(root, 'server/dist/bench-upstream.mjs')
  const contents = `
    export { openUpstream } from './send.ts'
    export { undiciWay } from './connect/connections.ts'
    export { Secret } from '../core/secret.ts'`
  const resolveDir = join(root, 'server/src/upstream')
  await bundleProgram({ stdin: { contents, resolveDir, loader: 'ts' } }, outfile)
  const program = await import(pathToFileURL(outfile).href)
  rmSync(outfile)
  for (const work of positionals.length === 0 ? Object.keys(WORK) : positionals)
    await measureWork(work, program)
}

async function measureWork(work, { openUpstream, undiciWay, Secret }) {
  const child = spawn(process.execPath, [import.meta.filename, '--serve', work], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise((resolve) => child.stdout.once('data', (text) => resolve(Number(text))))
  const { atOnce, per, units } = WORK[work]
  const body = [Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hello"}]}')]
  const call = {
    request: { method: 'POST', url: `http://127.0.0.1:${port}/v1/chat/completions`, headers: {} },
    auth: { kind: 'bearer' },
    credential: { secret: new Secret('sk-0123456789abcdef0123456789abcdef'), fields: {} },
    body,
    bodyLength: body[0].length,
    timeouts: { connectMs: 5_000, firstByteMs: 60_000, idleMs: 60_000 },
  }
  const clients = { own: openUpstream(), undici: openUpstream({ way: undiciWay(undefined) }) }
  const costs = { own: [], undici: [] }
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const [name, client] of Object.entries(clients)) {
      const cost = await drive(client, call, { atOnce, ms: Number(values.seconds) * 1_000 })
      if (round > 0) costs[name].push(cost / units)
    }
  }
  for (const [name, all] of Object.entries(costs)) {
    const sorted = all.toSorted((a, b) => a - b)
    const [least, median] = [sorted[0], sorted[sorted.length >> 1]].map((cost) => cost.toFixed(1))
    process.stdout.write(`${work} ${name}: median ${median} µs a ${per}, least ${least}\n`)
  }
  for (const client of Object.values(clients)) await client.close()
  child.kill()
}

/** µs of CPU a call. */
async function drive(client, call, { atOnce, ms }) {
  const until = performance.now() + ms
  const before = process.cpuUsage()
  let done = 0
  const one = () =>
    new Promise((resolve, reject) => {
      client.open(call, {
        head: () => undefined,
        data: () => undefined,
        end: resolve,
        fail: (failure) => reject(new Error(failure.detail)),
      })
    })
  const lane = async () => {
    while (performance.now() < until) {
      await one()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / done
}
