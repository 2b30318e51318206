/** node clients/run.mjs [claude] [codex] [gemini] [opencode] [--upstream chat,responses,messages,gemini] */
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildWhenNeeded } from '../tools/project/build.mjs'
import { openAgentUpstream } from './src/agent-upstream.mjs'
import { PROGRAMS } from './src/programs.mjs'
import { PROTOCOLS } from './src/wire.mjs'

const KEY = 'sk-gateway-clientsclientsclientsclientsclientscl1'
/** A client that hangs has failed. */
const CLIENT_TIMEOUT_MS = 180_000
/** Its packages for some machines are not in every registry, so no lock can hold it. */
const OPENCODE = 'opencode-ai@1.18.33'
const clients = dirname(fileURLToPath(import.meta.url))
const root = dirname(clients)

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { upstream: { type: 'string', default: PROTOCOLS.join(',') }, verbose: { type: 'boolean' } },
})
const programs = positionals.length === 0 ? Object.keys(PROGRAMS) : positionals
for (const name of programs) if (PROGRAMS[name] === undefined) throw new Error(`no such client: ${name}`)

await buildWhenNeeded(root)
install()
const folder = mkdtempSync(join(tmpdir(), 'sluice-clients-'))
let work = folder
const upstream = await openAgentUpstream(() => work)
const gateway = await startGateway()
const failed = []
try {
  for (const name of programs) {
    for (const protocol of options.upstream.split(',')) await tryClient(name, protocol)
  }
} finally {
  gateway.child.kill('SIGTERM')
  upstream.close()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failed.length === 0 ? 0 : 1)

async function tryClient(name, protocol) {
  const program = PROGRAMS[name]
  const title = `${program.title} (${program.protocol}) on a model that speaks ${protocol}`
  const binary = join(clients, 'node_modules/.bin', name)
  if (!existsSync(binary)) {
    process.stdout.write(`left out  ${title}: it does not install here\n`)
    return
  }
  const home = join(folder, `${name}-${protocol}`)
  work = join(home, 'work')
  mkdirSync(work, { recursive: true })
  const word = `needle-${randomBytes(8).toString('hex').replaceAll(/\d/g, 'x')}`
  writeFileSync(join(work, 'input.txt'), `${word}\n`)
  upstream.problems.length = 0
  const started = program.start({ home, work, url: gateway.url, key: KEY, model: `agent-${protocol}` })
  const ran = await runClient(binary, { ...started, home })
  const problems = [...upstream.problems, ...judge(ran, word.toUpperCase())]
  problems.push(...(await judgeLog(`agent-${protocol}`)))
  if (problems.length > 0) failed.push(title)
  process.stdout.write(`${problems.length === 0 ? 'ok      ' : 'FAIL    '}  ${title} (${ran.seconds} s)\n`)
  for (const problem of problems) process.stdout.write(`            ${problem}\n`)
  if (problems.length > 0 || options.verbose) process.stdout.write(`--- ${ran.output.slice(-3_000)}\n---\n`)
}

function judge({ code, output }, expected) {
  const file = join(work, 'output.txt')
  const written = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  return [
    ...(code === 0 ? [] : [`it ended with ${code}`]),
    ...(written === expected ? [] : [`output.txt holds ${JSON.stringify(written)}, not ${expected}`]),
    ...(output.includes(expected) ? [] : ['its last word does not name what was written']),
  ]
}

/** Every call of the client was answered, metered by the upstream's own figures, and charged. */
async function judgeLog(model) {
  const answer = await fetch(`${gateway.url}/api/v1/user/user/logs?model=${model}&limit=50`, {
    headers: { authorization: `Bearer ${KEY}` },
  })
  const { data } = await answer.json()
  const calls = data.filter(({ endpoint }) => !/count|input_tokens/i.test(endpoint))
  const wrong = calls.filter((row) => row.http_status !== 200 || row.usage_source !== 'upstream')
  return [
    ...(calls.length >= 3 ? [] : [`only ${calls.length} calls in the log`]),
    ...wrong.map((row) => `${row.endpoint} ended with ${row.http_status}, usage ${row.usage_source}`),
  ]
}

function runClient(binary, { args, env, home }) {
  return new Promise((resolve) => {
    const begun = Date.now()
    const child = spawn(binary, args, {
      cwd: work,
      env: { PATH: process.env.PATH, HOME: home, TERM: 'dumb', CI: '1', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    const late = setTimeout(() => child.kill('SIGKILL'), CLIENT_TIMEOUT_MS)
    child.on('exit', (code, signal) => {
      clearTimeout(late)
      resolve({ code: code ?? signal, output, seconds: Math.round((Date.now() - begun) / 1_000) })
    })
  })
}

/** A client whose packages do not exist for this machine is left out, not a failure. */
function install() {
  if (existsSync(join(clients, 'node_modules'))) return
  npm(['ci'])
  npm(['install', '--no-save', '--no-package-lock', OPENCODE])
}

function npm(args) {
  try {
    execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: clients, stdio: ['ignore', 2, 2] })
  } catch (error) {
    process.stderr.write(`npm ${args.join(' ')} did not succeed here: ${error.message}\n`)
  }
}

async function startGateway() {
  const file = join(folder, 'gateway.json')
  writeFileSync(file, JSON.stringify(gatewayFile()))
  const child = spawn(process.execPath, [join(root, 'server/dist/main.js')], {
    env: {
      PATH: process.env.PATH,
      SLUICE_CONFIG: file,
      SLUICE_DATA_DIR: join(folder, 'data'),
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: '0',
      SLUICE_GATEWAY_PORT: '0',
      SLUICE_OPS_PORT: '0',
      SLUICE_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise((resolve, reject) => {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const line = printed.split('\n').find((text) => text.includes('"event":"ready"'))
      if (line !== undefined) resolve(JSON.parse(line).base_url)
    })
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
  })
  return { child, url }
}

/** Which vendor kind speaks each protocol. */
function gatewayFile() {
  const kinds = {
    chat: { kind: 'openai-compatible', base: '/v1' },
    responses: { kind: 'openai', base: '/v1' },
    messages: { kind: 'anthropic', base: '' },
    gemini: { kind: 'google', base: '/v1beta' },
  }
  return {
    vendors: PROTOCOLS.map((protocol) => ({
      code: protocol,
      name: protocol,
      kind: kinds[protocol].kind,
      base_url: `${upstream.url}${kinds[protocol].base}`,
      credentials: [{ name: 'main', secret: 'upstream-secret' }],
    })),
    models: PROTOCOLS.map((protocol) => ({
      model_id: `agent-${protocol}`,
      name: `Agent behind ${protocol}`,
      support_features: ['text', 'image'],
      context_tokens: 400_000,
      max_output_tokens: 64_000,
      pricing: { billing_modes: ['token'], input_price: 10, output_price: 10 },
      chains: [{ vendor: protocol, credential: 'main', protocol, forward_model_id: 'agent' }],
    })),
    accounts: [
      {
        email: 'owner@example.com',
        role: 'admin',
        credits: 1_000_000,
        api_deduction: true,
        keys: [{ name: 'clients', secret: KEY }],
      },
    ],
  }
}
