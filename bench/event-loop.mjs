/**
 * node bench/event-loop.mjs [scenario…] — how long one request keeps the gateway's event loop from everybody else.
 * Starts the built gateway with a watch on its event loop, sends each scenario to it, and prints the longest stop that the
 * loop saw meanwhile: the time its thread computed in one turn, of the time that passed (the rest others had the
 * processor). Figures to look at, not a test: they depend on the machine.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'sluice-event-loop-'))
const MIB = 1024 * 1024

const text = (bytes) =>
  'All work and no play makes a dull gateway. '.repeat(Math.ceil(bytes / 43)).slice(0, bytes)
const chat = (model, extra) => `{"model":"${model}",${extra}}`
const user = (content) => `"messages":[{"role":"user","content":${content}}]`
const keys = (count) => Array.from({ length: count }, (_, at) => `"key${at}":${at % 10}`).join(',')
const toolTurn = (at) =>
  `{"role":"assistant","tool_calls":[{"id":"call_${at}","type":"function","function":{"name":"look","arguments":"{\\"at\\":${at}}"}}]},{"role":"tool","tool_call_id":"call_${at}","content":"found"}`
const toolTurns = (count) => Array.from({ length: count }, (_, at) => toolTurn(at)).join(',')
const base64 = (bytes) => Buffer.alloc((bytes * 3) / 4, 7).toString('base64')
const image = (bytes) =>
  user(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,${base64(bytes)}"}}]`)
const tool = (members) =>
  `"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{${keys(members)}}}}}]`

/** Each gives what is sent, to converted (`c`) or passed (`p`) models; `times` at once. */
const SCENARIOS = {
  'a million unknown members, gzipped': () => ({
    body: chat('c', `${keys(1_000_000)},${user('"hi"')}`),
    gzip: true,
  }),
  'as many members as may be': () => ({ body: chat('c', `${keys(499_000)},${user('"hi"')}`) }),
  'a hundred thousand tool turns, 18 MB': () => ({ body: chat('c', `"messages":[${toolTurns(100_000)}]`) }),
  'as many tool turns as may be': () => ({ body: chat('c', `"messages":[${toolTurns(24_900)}]`) }),
  'a tool schema of 400 000 members': () => ({ body: chat('c', `${user('"hi"')},${tool(400_000)}`) }),
  'the same to responses': () => ({
    path: '/v1/responses',
    body: chat(
      'c',
      `"input":"hi","tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{${keys(400_000)}}}}]`,
    ),
  }),
  'deep nesting': () => ({ body: chat('c', `${user('"hi"')},"a":${'['.repeat(190)}${']'.repeat(190)}`) }),
  'a text of 90 MiB': () => ({ body: chat('c', user(JSON.stringify(text(90 * MIB)))) }),
  'a text of 20 MiB that is not Latin': () => ({
    body: chat('c', user(JSON.stringify('学'.repeat(7 * MIB)))),
  }),
  'a picture of 20 MiB': () => ({ body: chat('c', image(20 * MIB)) }),
  'an array of 490 000 numbers': () => ({
    body: chat('c', `${user('"hi"')},"n":[${'1,'.repeat(489_999)}1]`),
  }),
  'a bomb: 90 MiB in 90 kB': () => ({
    body: chat('c', user(JSON.stringify('a'.repeat(90 * MIB)))),
    gzip: true,
  }),
  'passed: a text of 99 MiB': () => ({ body: chat('p', user(JSON.stringify(text(99 * MIB)))) }),
  'passed: as many members as may be': () => ({ body: chat('p', `${keys(499_000)},${user('"hi"')}`) }),
  '40 bodies of 900 kB at once': () => ({ body: chat('c', user(JSON.stringify(text(900_000)))), times: 40 }),
  '40 bodies just under what goes to a thread': () => ({
    body: chat('c', user(JSON.stringify(text(255_000)))),
    times: 40,
  }),
  '40 bodies of 4 000 members': () => ({ body: chat('c', `${keys(4_000)},${user('"hi"')}`), times: 40 }),
  'an answer of 50 MB': () => ({ body: chat('c', user('"large-answer"')) }),
  'an answer of 50 MB without usage': () => ({ body: chat('c', user('"large-unmetered"')) }),
  'passed: an answer of 50 MB without usage': () => ({ body: chat('p', user('"large-unmetered"')) }),
  'an answer of 200 000 members': () => ({ body: chat('c', user('"members-answer"')) }),
  'sign-in with a megabyte of members': () => ({
    path: '/api/v1/user/user/sign-in',
    body: `{${keys(70_000)}}`,
  }),
  'a video order of 400 000 members': () => ({
    path: '/v1/videos',
    body: `{"model":"v","prompt":"x",${keys(400_000)}}`,
  }),
  'counting a large conversation': () => ({
    path: '/v1/messages/count_tokens',
    body: chat('c', user(JSON.stringify(text(8 * MIB)))),
  }),
}

const upstream = createServer((request, response) => {
  let seen = ''
  request.on('data', (chunk) => (seen += seen.length < 4096 ? chunk.toString('latin1') : ''))
  request.on('end', () => {
    const isMessages = request.url.includes('/messages')
    const long = seen.includes('large-answer') || seen.includes('large-unmetered')
    const content = long ? text(50_000_000) : 'ok'
    const usage = seen.includes('large-unmetered') ? {} : { usage: { input_tokens: 5, output_tokens: 5 } }
    const members = seen.includes('members-answer')
      ? { extra: Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, at])) }
      : {}
    const body = isMessages
      ? {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'x',
          content: [{ type: 'text', text: content }],
          stop_reason: 'end_turn',
          ...usage,
          ...members,
        }
      : {
          id: 'c',
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
})
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const upstreamUrl = `http://127.0.0.1:${upstream.address().port}`

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
    ],
    models: [model('c', 'far', 'messages'), model('p', 'same', 'chat')],
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

function model(id, vendor, protocol) {
  return {
    model_id: id,
    name: id,
    context_tokens: 2_000_000,
    max_output_tokens: 4096,
    pricing: { billing_modes: ['token'], input_price: 0.000001, output_price: 0.000001 },
    chains: [{ vendor, credential: 'main', protocol, forward_model_id: 'x' }],
  }
}

const gateway = spawn(
  process.execPath,
  ['--import', pathToFileURL(hook).href, join(root, 'server/dist/main.js')],
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
await send({ body: chat('c', user('"warm"')) })
await watched()
for (const [name, make] of wanted) {
  const { times = 1, ...wire } = make()
  const prepared = { ...wire, bytes: wire.gzip ? gzipSync(wire.body) : Buffer.from(wire.body) }
  await pause(300)
  await watched()
  const startedAt = performance.now()
  const answers = await Promise.all(Array.from({ length: times }, () => send(prepared)))
  const took = performance.now() - startedAt
  await pause(100)
  const { max, computed, rss } = await watched()
  const statuses = [...new Set(answers.map(({ status }) => status))].join(' ')
  const refused = answers.find(({ status }) => status < 200 || status >= 400)
  const why = refused === undefined ? '' : `  ${refused.text.slice(0, 110)}`
  process.stdout.write(
    `${computed.toFixed(0).padStart(5)} ms of ${max.toFixed(0).padStart(5)} ms  ${(prepared.bytes.length / 1e6).toFixed(2).padStart(7)} MB  ${statuses}  ${(took / 1000).toFixed(2)} s  ${(rss / 1e6).toFixed(0)} MB  ${name}${why}\n`,
  )
}
gateway.kill('SIGTERM')
upstream.closeAllConnections()
upstream.close()
await new Promise((resolve) => gateway.once('exit', resolve))
rmSync(folder, { recursive: true, force: true })

function send({ body, bytes = Buffer.from(body), gzip, path = '/v1/chat/completions' }) {
  return new Promise((resolve) => {
    const url = new URL(path, ready.base_url)
    const outgoing = httpRequest(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'content-length': bytes.length,
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
