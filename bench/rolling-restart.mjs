/**
 * node bench/rolling-restart.mjs [--rounds 3] [--clients 16] [--drain-delay 0] [--workers 1]
 * Two instances behind a real nginx with the file that is shipped (`deploy/nginx.conf`), restarted one after the other under
 * load of streams and whole calls, small and large. Prints how many calls failed, and holds what the upstream made and what
 * was charged against what the clients got.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'sluice-rolling-'))
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '16' },
    'drain-delay': { type: 'string', default: '0' },
    workers: { type: 'string', default: '1' },
  },
})
const PORTS = { nginx: [18080, 18081], one: [18180, 18181, 18190], two: [18280, 18281, 18290] }
const STREAM_PIECES = 10
const STREAM_PIECE_MS = 60

/** What the upstream made, by the call's `user`. */
const made = new Map()
const upstream = createServer((request, response) => {
  let text = ''
  request.on('data', (chunk) => (text += chunk))
  request.on('end', () => {
    answer(JSON.parse(text), response).catch((error) => response.destroy(error))
  })
})

async function answer({ user, stream }, response) {
  made.set(user, (made.get(user) ?? 0) + 1)
  const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
  if (!stream) {
    await pause(50)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'x',
        choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        usage,
      }),
    )
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (choices, more = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices, ...more })}\n\n`,
    )
  for (let piece = 0; piece < STREAM_PIECES; piece += 1) {
    event([{ index: 0, delta: { content: 'ok ' }, finish_reason: null }])
    await pause(STREAM_PIECE_MS)
  }
  event([{ index: 0, delta: {}, finish_reason: 'stop' }])
  event([], { usage })
  response.end('data: [DONE]\n\n')
}
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve))

const gatewayFile = join(folder, 'gateway.json')
writeFileSync(
  gatewayFile,
  JSON.stringify({
    vendors: [
      {
        code: 'same',
        kind: 'openai-compatible',
        base_url: `http://127.0.0.1:${upstream.address().port}`,
        credentials: [{ name: 'main', secret: 'x' }],
      },
    ],
    models: [
      {
        model_id: 'm',
        name: 'm',
        context_tokens: 100_000,
        max_output_tokens: 100,
        pricing: { billing_modes: ['token'], input_price: 1000, output_price: 1000 },
        chains: [{ vendor: 'same', credential: 'main', protocol: 'chat', forward_model_id: 'x' }],
      },
    ],
    accounts: [
      {
        email: 'bench@example.com',
        credits: 100_000_000,
        balance: 0,
        api_deduction: true,
        keys: [{ name: 'bench', secret: 'sk-gateway-rollingrollingrollingrollingrolling0001' }],
      },
    ],
  }),
)
const KEY = 'sk-gateway-rollingrollingrollingrollingrolling0001'

const shipped = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8')
const server = (port, index) =>
  [PORTS.one, PORTS.two]
    .map((ports) => `server 127.0.0.1:${ports[index]}`)
    .map((line) => `${line}${port};`)
    .join('\n')
const shared = shipped
  .replace(/server sluice:8080([^;]*);/, (_all, rest) => server(rest, 0))
  .replace(/server sluice:8081([^;]*);/, (_all, rest) => server(rest, 1))
  .replaceAll('8080', String(PORTS.nginx[0]))
  .replaceAll('8081', String(PORTS.nginx[1]))
writeFileSync(
  join(folder, 'nginx.conf'),
  `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log info; worker_processes 1;
events { worker_connections 4096; }
http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
${shared}
}`,
)

let one = await start(PORTS.one)
let two = await start(PORTS.two)
const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
  stdio: 'inherit',
})
await pause(500)

let running = true
let calls = 0
const failures = []
const agent = new Agent({ keepAlive: true })
const clients = Array.from({ length: Number(options.clients) }, async (_none, client) => {
  for (let count = 0; running; count += 1) {
    const user = `${client}-${count}`
    const stream = count % 2 === 0
    const content = count % 5 === 0 ? 'x'.repeat(200_000) : 'hi'
    calls += 1
    const answer = await call({ model: 'm', user, stream, messages: [{ role: 'user', content }] })
    const whole =
      answer.status === 200 && (stream ? answer.text.includes('[DONE]') : answer.text.includes('"ok"'))
    if (!whole)
      failures.push({ user, stream, large: count % 5 === 0, ...answer, text: answer.text.slice(0, 200) })
  }
})
const stops = []
for (let round = 0; round < Number(options.rounds); round += 1) {
  await pause(1_500)
  stops.push(await stop(one))
  one = await start(PORTS.one)
  await pause(1_500)
  stops.push(await stop(two))
  two = await start(PORTS.two)
}
await pause(1_000)
running = false
await Promise.all(clients)
agent.destroy()
await stop(one)
await stop(two)
nginx.kill('SIGTERM')
await new Promise((resolve) => nginx.once('exit', resolve))
upstream.closeAllConnections()
upstream.close()

const twice = [...made.values()].filter((times) => times > 1).length
process.stdout.write(
  `${JSON.stringify({
    restarts: stops.length,
    calls,
    failed: failures.length,
    made: [...made.values()].reduce((sum, times) => sum + times, 0),
    made_twice: twice,
    stop_seconds: stops.map((ms) => (ms / 1000).toFixed(1)).join(' '),
  })}\n`,
)
for (const failure of failures.slice(0, 10)) process.stdout.write(`${JSON.stringify(failure)}\n`)
const charged = spawn(process.execPath, [join(root, 'server/bin/sluice.mjs'), 'verify'], {
  env: { ...process.env, SLUICE_DATA_DIR: join(folder, 'data') },
  stdio: 'inherit',
})
await new Promise((resolve) => charged.once('exit', resolve))
const { DatabaseSync } = await sqlite()
const database = new DatabaseSync(join(folder, 'data', 'sluice.db'))
process.stdout.write(
  `${JSON.stringify(database.prepare('select count(*) as total, sum(http_status = 200) as answered from call_logs').get())}\n`,
)
database.close()
rmSync(folder, { recursive: true, force: true })

async function sqlite() {
  try {
    return await import('node:sqlite')
  } catch {
    return await import('@photostructure/sqlite')
  }
}

async function start([port, gatewayPort, opsPort]) {
  const child = spawn(process.execPath, [join(root, 'server/dist/main.js')], {
    env: {
      ...process.env,
      SLUICE_DATA_DIR: join(folder, 'data'),
      SLUICE_CONFIG: gatewayFile,
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: String(port),
      SLUICE_GATEWAY_PORT: String(gatewayPort),
      SLUICE_OPS_PORT: String(opsPort),
      SLUICE_LOG_LEVEL: 'error',
      SLUICE_DRAIN_DELAY_MS: options['drain-delay'],
      SLUICE_WORKERS: options.workers,
      SLUICE_TRUSTED_PROXIES: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('"ready"') && resolve())
    child.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  return child
}

async function stop(child) {
  const startedAt = performance.now()
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  return performance.now() - startedAt
}

function call(body) {
  return new Promise((resolve) => {
    const outgoing = httpRequest(`http://127.0.0.1:${PORTS.nginx[0]}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    })
    outgoing.on('response', (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode, text }))
      response.on('error', (error) => resolve({ status: 0, text: `${text} ${error.message}` }))
    })
    outgoing.on('error', (error) => resolve({ status: 0, text: error.message }))
    outgoing.end(JSON.stringify(body))
  })
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
