/** Who is compared: Sluice with everything on, nginx `proxy_pass`, Portkey. Each on one core, before the same upstream. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callPathOf, isWhole, MODES, pathOf } from './answers.mjs'
import { freePort, startProxy } from './nginx.mjs'
import { startServer } from './postgres.mjs'
import { startPinned } from './processes.mjs'

const KEY = 'sk-gateway-bench-00000000000000000000000000000000'
/** Above what a run can use, so that every tier is counted and none refuses. */
const PLENTY = 1_000_000_000_000

/** Who it is, its pid, how to stop it, and target(mode): where and with which headers to send. */
export function startContestant({ name, ...setting }) {
  const starts = {
    nginx: startNginxContestant,
    sluice: startSluice,
    converted: startConverted,
    'on-postgres': startOnPostgres,
    portkey: startPortkey,
  }
  return starts[name](setting)
}

async function startNginxContestant({ core, folder, upstream }) {
  const proxy = await startProxy({
    core,
    folder,
    wholePort: upstream.wholePort,
    streamPort: upstream.streamPort,
  })
  return {
    name: 'nginx',
    ...proxy,
    target: (mode) => ({ port: proxy.port, path: pathOf(mode), headers: {}, model: MODES[mode].model }),
  }
}

/** Sluice again, called by a client of another protocol than the upstream's. */
function startConverted(setting) {
  return startSluice({ ...setting, name: 'converted', path: '/v1/messages' })
}

/** Sluice on a PostgreSQL of its own, whose server runs beside the load generator. */
async function startOnPostgres(setting) {
  const server = await startServer(setting.root, setting.clientCore)
  const running = await startSluice({ ...setting, name: 'on-postgres', databaseUrl: server.url })
  return {
    ...running,
    serverPid: server.pid,
    stop: async () => {
      await running.stop()
      server.close()
    },
  }
}

async function startSluice({
  core,
  folder,
  root,
  upstream,
  profile,
  name = 'sluice',
  path,
  databaseUrl = process.env.BENCH_DATABASE_URL,
}) {
  const home = join(folder, name)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'gateway.json'), JSON.stringify(gatewayFile(upstream)))
  const running = await startPinned({
    core,
    file: process.execPath,
    args: [
      ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
      join(root, 'server/dist/main.js'),
    ],
    cwd: home,
    env: {
      NODE_ENV: 'production',
      SLUICE_DATA_DIR: join(home, 'data'),
      SLUICE_CONFIG: join(home, 'gateway.json'),
      SLUICE_HOST: '127.0.0.1',
      SLUICE_PORT: '0',
      SLUICE_GATEWAY_PORT: '0',
      SLUICE_OPS_PORT: '0',
      // All clients call from one.
      SLUICE_CONNECTIONS_PER_ADDRESS_LIMIT: '20000',
      // Those that read nothing are looked at for minutes.
      SLUICE_CLIENT_STALL_TIMEOUT_MS: '3600000',
      ...(databaseUrl === undefined ? {} : { SLUICE_DATABASE_URL: databaseUrl }),
    },
    ready: readyLine,
  })
  const headers = { authorization: `Bearer ${KEY}` }
  const port = portOf(running.answer.base_url)
  return {
    name,
    ...running,
    home,
    headers,
    port,
    videoPort: upstream.videoPort,
    opsPort: portOf(running.answer.ops_url),
    target: (mode) => ({ port, path: path ?? callPathOf(mode), headers, model: MODES[mode].model }),
  }
}

function readyLine(printed) {
  const line = printed.split('\n').find((text) => text.includes('"event":"ready"'))
  return line === undefined ? undefined : JSON.parse(line)
}

const portOf = (address) => Number(new URL(address).port)

const TOKEN_PRICES = { billing_modes: ['token'], input_price: 10, output_price: 40 }
/** About what a small call of chat costs. */
const IMAGE_PRICES = { billing_modes: ['image'], image_price: 0.008 }

/** Full work for every call: an account that pays with Credits, a key with six tiers, prices above one Credit a call. */
function gatewayFile({ wholePort, streamPort, videoPort }) {
  const tier = (dimension, seconds) => ({ dimension, limit: PLENTY, seconds })
  return {
    vendors: Object.keys(MODES)
      .map((mode) => ({
        code: `bench-${mode}`,
        kind: 'openai-compatible',
        base_url: `http://127.0.0.1:${isWhole(mode) ? wholePort : streamPort}${MODES[mode].prefix}/v1`,
        credentials: [{ name: 'main', secret: 'upstream-secret' }],
      }))
      .concat(videoPort === undefined ? [] : [videoVendor(videoPort)]),
    models: Object.entries(MODES)
      .map(([mode, { model, kind = 'chat' }]) => ({
        model_id: model,
        name: model,
        context_tokens: 10_000_000,
        max_output_tokens: 4_096,
        pricing: kind === 'images' ? IMAGE_PRICES : TOKEN_PRICES,
        chains: [
          {
            vendor: `bench-${mode}`,
            credential: 'main',
            protocol: kind,
            forward_model_id: 'upstream-model-2026-01-01',
          },
        ],
      }))
      .concat(videoPort === undefined ? [] : [VIDEO_MODEL]),
    accounts: [
      {
        email: 'bench@example.com',
        credits: 1_000_000_000,
        api_deduction: true,
        keys: [
          {
            name: 'bench',
            secret: KEY,
            policy: {
              concurrency: 100_000,
              windows: [
                tier('requests', 60),
                tier('requests', 86_400),
                tier('tokens', 60),
                tier('tokens', 86_400),
                { dimension: 'amount', limit: 1_000_000_000, seconds: 2_592_000 },
                tier('images', 3_600),
              ],
            },
          },
        ],
      },
    ],
  }
}

const videoVendor = (port) => ({
  code: 'bench-video',
  kind: 'openai-compatible',
  base_url: `http://127.0.0.1:${port}/v1`,
  credentials: [{ name: 'main', secret: 'upstream-secret' }],
})

/** 4 seconds cost 2 000 Credits. */
const VIDEO_MODEL = {
  model_id: 'bench-video',
  name: 'bench-video',
  support_features: ['video'],
  pricing: { billing_modes: ['video_second'], video_price: 0.5 },
  chains: [
    { vendor: 'bench-video', credential: 'main', protocol: 'video', forward_model_id: 'upstream-video-1' },
  ],
}

async function startPortkey({ core, folder, root, upstream }) {
  const port = await freePort()
  const running = await startPinned({
    core,
    file: process.execPath,
    args: [
      join(root, 'bench/node_modules/@portkey-ai/gateway/build/start-server.js'),
      '--headless',
      `--port=${port}`,
    ],
    cwd: folder,
    env: { NODE_ENV: 'production' },
    ready: (printed) => (/Ready for connections/.test(printed) ? true : undefined),
  })
  const headersOf = (mode) => ({
    authorization: 'Bearer upstream-secret',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${isWhole(mode) ? upstream.wholePort : upstream.streamPort}${MODES[mode].prefix}/v1`,
  })
  return {
    name: 'portkey',
    ...running,
    target: (mode) => ({ port, path: callPathOf(mode), headers: headersOf(mode), model: MODES[mode].model }),
  }
}
