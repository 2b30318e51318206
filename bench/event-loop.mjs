/**
 * node bench/event-loop.mjs [scenario…] — how long one request keeps the gateway's event loop from everybody else.
 * Starts the built gateway with a watch on its event loop, sends each scenario to it, and prints the longest stop that the
 * loop saw meanwhile: the time its thread computed in one turn, of the time that passed (the rest others had the
 * processor). Figures to look at, not a test: they depend on the machine. With BENCH_PROFILE_DIR the gateway leaves CPU
 * profiles there.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { SCENARIOS } from './event-loop/scenarios.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'sluice-event-loop-'))
const upstream = fork(new URL('./event-loop/upstream.mjs', import.meta.url))
const [port] = await once(upstream, 'message')
const upstreamUrl = `http://127.0.0.1:${port}`

const hook = join(folder, 'hook.mjs')
const report = join(folder, 'report')
writeFileSync(
  hook,
  `import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import { readFileSync, writeFileSync } from 'node:fs'
if (isMainThread) {
  const watch = monitorEventLoopDelay({ resolution: 5 })
  watch.enable()
  // What the thread itself computed between two turns, without the time in which others had the processor.
  const computed = () => {
    try {
      return Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'utf8').split(' ')[0]) / 1e6
    } catch {
      return 0
    }
  }
  let last = computed()
  let most = 0
  setInterval(() => {
    const now = computed()
    most = Math.max(most, now - last)
    last = now
  }, 4).unref()
  process.on('SIGUSR2', () => {
    writeFileSync(${JSON.stringify(report)}, JSON.stringify({ max: watch.max / 1e6, computed: most, rss: process.memoryUsage().rss }))
    watch.reset()
    most = 0
  })
}`,
)
const gatewayFile = join(folder, 'gateway.json')
writeFileSync(
  gatewayFile,
  JSON.stringify({
    vendors: [
      { code: 'far', kind: 'anthropic', base_url: upstreamUrl, credentials: [{ name: 'main', secret: 'x' }] },
      {
        code: 'same',
        kind: 'openai-compatible',
        base_url: upstreamUrl,
        credentials: [{ name: 'main', secret: 'x' }],
      },
      { code: 'again', kind: 'groq', base_url: upstreamUrl, credentials: [{ name: 'main', secret: 'x' }] },
      { code: 'waits', kind: 'openai', base_url: upstreamUrl, credentials: [{ name: 'main', secret: 'x' }] },
      { code: 'videos', kind: 'ark', base_url: upstreamUrl, credentials: [{ name: 'main', secret: 'x' }] },
    ],
    models: [
      model('c', 'far', 'messages'),
      model('p', 'same', 'chat'),
      model('two', ['same', 'again'], 'chat'),
      model('r', 'waits', 'responses'),
      model('v', 'videos', 'video'),
      model('form', 'waits', 'video'),
    ],
    accounts: [
      {
        email: 'bench@example.com',
        credits: 100000000,
        balance: 0,
        api_deduction: true,
        keys: [{ name: 'bench' }],
      },
    ],
  }),
)

function model(id, vendors, protocol) {
  const isVideo = protocol === 'video'
  const chainOf = (vendor) => ({ vendor, credential: 'main', protocol, forward_model_id: 'x' })
  return {
    model_id: id,
    name: id,
    ...(isVideo ? { support_features: ['video'] } : { context_tokens: 2_000_000, max_output_tokens: 4096 }),
    pricing: isVideo
      ? { billing_modes: ['video_second'], video_price: 0.000001 }
      : { billing_modes: ['token'], input_price: 0.000001, output_price: 0.000001 },
    chains: [vendors].flat().map(chainOf),
  }
}

/** Where the gateway's time goes, for the developer tools of a browser. */
const { BENCH_PROFILE_DIR } = process.env
const profile = BENCH_PROFILE_DIR === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${BENCH_PROFILE_DIR}`]

const gateway = spawn(
  process.execPath,
  [...profile, '--import', pathToFileURL(hook).href, join(root, 'server/dist/main.js')],
  {
    env: {
      ...process.env,
      SLUICE_DATA_DIR: join(folder, 'data'),
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: '0',
      SLUICE_GATEWAY_PORT: '0',
      SLUICE_OPS_PORT: '0',
      SLUICE_CONFIG: gatewayFile,
      SLUICE_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  },
)
// However this ends, the gateway ends with it.
process.once('exit', () => gateway.kill('SIGKILL'))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
let told = ''
gateway.stderr.on('data', (chunk) => (told += chunk))
const ready = await new Promise((resolve, reject) => {
  let out = ''
  gateway.stdout.on('data', (chunk) => {
    out += chunk
    if (out.includes('\n')) resolve(JSON.parse(out.slice(0, out.indexOf('\n'))))
  })
  gateway.once('exit', () => reject(new Error(told)))
})
// The keys are printed just after the ready line.
while (!/sk-gateway-[\w-]{20,}\s/.test(told)) await pause(20)
const [KEY] = /sk-gateway-[\w-]{20,}/.exec(told)

const names = process.argv.slice(2)
const wanted = Object.entries(SCENARIOS).filter(
  ([name]) => names.length === 0 || names.some((part) => name.includes(part)),
)
// The tokenizer is loaded in a pause: nobody is to find its 200 ms in a row of this list.
await pause(20_000)
await send({ body: '{"model":"c","messages":[{"role":"user","content":"warm"}]}' })
await watched()
for (const [name, make] of wanted) {
  const { times = 1, before, settleMs = 100, ...given } = make()
  const wire = { ...given, ...(await before?.(send)) }
  const prepared = { ...wire, bytes: bytesOf(wire) }
  await pause(300)
  await watched()
  const startedAt = performance.now()
  const answers = await Promise.all(Array.from({ length: times }, () => send(prepared)))
  const took = performance.now() - startedAt
  await pause(settleMs)
  const { max, computed, rss } = await watched()
  const statuses = [...new Set(answers.map(({ status }) => status))].join(' ')
  const refused = answers.find(({ status }) => status < 200 || status >= 400)
  const why = refused === undefined ? '' : `  ${refused.text.slice(0, 110)}`
  process.stdout.write(
    `${computed.toFixed(0).padStart(5)} ms of ${max.toFixed(0).padStart(5)} ms  ${(prepared.bytes.length / 1e6).toFixed(2).padStart(7)} MB  ${statuses}  ${(took / 1000).toFixed(2)} s  ${(rss / 1e6).toFixed(0)} MB  ${name}${why}\n`,
  )
}
gateway.kill('SIGTERM')
upstream.disconnect()
await new Promise((resolve) => gateway.once('exit', resolve))
rmSync(folder, { recursive: true, force: true })

function bytesOf({ body = '', gzip }) {
  return gzip ? gzipSync(body) : Buffer.from(body)
}

function send(wire) {
  const {
    bytes = bytesOf(wire),
    gzip,
    method = 'POST',
    path = '/v1/chat/completions',
    prefer,
    leaveAfterMs,
  } = wire
  return new Promise((resolve) => {
    const url = new URL(path, ready.base_url)
    const outgoing = httpRequest(url, {
      method,
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'content-length': bytes.length,
        ...(prefer === undefined ? {} : { prefer }),
        ...(gzip ? { 'content-encoding': 'gzip' } : {}),
      },
    })
    outgoing.on('response', (response) => {
      let text = ''
      response.on('data', (chunk) => (text += text.length < 4096 ? chunk : ''))
      response.on('end', () => resolve({ status: response.statusCode, text }))
      response.on('error', (error) => resolve({ status: 0, text: error.message }))
    })
    outgoing.on('error', (error) => resolve({ status: 0, text: error.message }))
    outgoing.end(bytes)
    if (leaveAfterMs !== undefined) setTimeout(() => outgoing.destroy(new Error('left')), leaveAfterMs)
  })
}

/** The longest stop since the last look, and memory. */
async function watched() {
  rmSync(report, { force: true })
  gateway.kill('SIGUSR2')
  for (;;) {
    await pause(20)
    try {
      return JSON.parse(readFileSync(report, 'utf8'))
    } catch (error) {
      if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error
    }
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
