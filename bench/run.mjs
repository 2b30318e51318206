/**
 * npm run bench -- small | latency | steady | streams | slow-streams | bodies | largest-body | converted-small |
 *   converted-streams | embeddings | embeddings-large | images | videos | postgres | start | all
 *   --rounds 5 --seconds 5     how often, how long
 *   --warm 15                  seconds of small calls for everybody before the first round
 *   --only sluice,nginx        fewer contestants
 *   --smoke                    shortest possible, to see that the harness works
 *   --profile                  records where Sluice spends its time
 *   --write                    keeps the report in bench/results
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { MODES, pathOf } from './src/answers.mjs'
import { COMPARISONS } from './src/comparisons.mjs'
import { startContestant } from './src/contestants.mjs'
import { wrk } from './src/drive.mjs'
import { startUpstream } from './src/nginx.mjs'
import { startPinned } from './src/processes.mjs'
import { profileText } from './src/profile.mjs'
import { machineFacts, reportOf } from './src/report.mjs'

const GATEWAY_CORE = 0
const CLIENT_CORE = 1
const bench = dirname(fileURLToPath(import.meta.url))
const root = dirname(bench)

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    warm: { type: 'string', default: '15' },
    only: { type: 'string', default: 'nginx,sluice,portkey' },
    smoke: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const wanted =
  positionals.length === 0 || positionals.includes('all') ? Object.keys(COMPARISONS) : positionals
for (const name of wanted) if (COMPARISONS[name] === undefined) throw new Error(`no such comparison: ${name}`)
for (const tool of ['nginx', 'wrk', 'taskset']) requireTool(tool)
if (!existsSync(join(bench, 'node_modules')))
  execFileSync('npm', ['ci', '--no-audit'], { cwd: bench, stdio: ['ignore', 2, 2] })

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const profile = options.profile ? join(folder, 'profile') : undefined
const stopping = []
try {
  const reports = []
  for (const name of wanted) reports.push(await compare(name))
  await stopAll()
  const text = [
    `# Figures of ${new Date().toISOString().slice(0, 10)}`,
    '',
    ...machineFacts(root),
    '',
    ...reports,
  ].join('\n')
  if (options.write) keep(text)
  if (profile !== undefined) process.stdout.write(`\n${profileText(profile)}\n`)
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

/** Each comparison starts everybody afresh, so that none begins with what another left behind. */
async function compare(name) {
  const comparison = COMPARISONS[name]
  const upstream = await startUpstreams(comparison)
  const asked = comparison.contestants ?? options.only.split(',')
  const names = asked.filter((contestant) => comparison.only?.includes(contestant) ?? true)
  const setting = {
    core: GATEWAY_CORE,
    clientCore: CLIENT_CORE,
    folder: freshFolder(name),
    root,
    upstream,
    profile,
  }
  const contestants = []
  for (const contestant of names) {
    const running = await startContestant({ name: contestant, ...setting })
    stopping.push(running)
    contestants.push(running)
  }
  const setup = {
    gatewayCore: GATEWAY_CORE,
    clientCore: CLIENT_CORE,
    root,
    folder,
    rest: options.smoke ? 500 : 10_000,
    seconds: options.smoke ? 1 : Number(options.seconds),
    settleMs: options.smoke ? 100 : 1_000,
    streams: options.smoke ? 20 : 200,
    slowStreams: options.smoke ? 50 : 5_000,
    videos: options.smoke ? 50 : 5_000,
    direct: (mode) => ({
      port: mode === 'small' ? upstream.wholePort : upstream.streamPort,
      path: pathOf(mode),
      headers: {},
      model: MODES[mode].model,
    }),
  }
  const rounds = options.smoke ? 1 : (comparison.rounds ?? Number(options.rounds))
  const rows = []
  const memory = {}
  await warmUp(contestants)
  // The first round warms what is particular to this comparison and is thrown away; there is none where one round is all.
  for (let round = rounds === 1 ? 1 : 0; round <= rounds; round += 1) {
    for (const contestant of contestants) {
      const figures = await comparison.run({ contestant, setup, memory })
      if (round > 0) rows.push({ name: contestant.name, figures })
      process.stderr.write(`${name} ${round}/${rounds} ${contestant.name} ${JSON.stringify(figures)}\n`)
    }
  }
  await stopAll()
  const report = reportOf({ comparison, rows })
  process.stdout.write(`\n${report}`)
  return report
}

/** Compilers of both Node gateways need tens of thousands of calls before their figures stand still. */
async function warmUp(contestants) {
  const seconds = options.smoke ? 1 : Number(options.warm)
  for (const contestant of contestants) {
    await wrk({ core: CLIENT_CORE, folder, target: contestant.target('small'), connections: 64, seconds })
  }
}

async function startUpstreams({ renderMs }) {
  const whole = await startUpstream({ core: CLIENT_CORE, folder })
  stopping.push(whole)
  const streams = await startPinned({
    core: CLIENT_CORE,
    file: process.execPath,
    args: [join(bench, 'src/upstream.mjs')],
    ready: (printed) => (printed.includes('\n') ? JSON.parse(printed) : undefined),
  })
  stopping.push(streams)
  const ports = { wholePort: whole.port, streamPort: streams.answer.port }
  return renderMs === undefined ? ports : { ...ports, videoPort: await startVideoVendor(renderMs) }
}

async function startVideoVendor(renderMs) {
  const vendor = await startPinned({
    core: CLIENT_CORE,
    file: process.execPath,
    args: [join(bench, 'src/video-vendor.mjs'), String(options.smoke ? 2_000 : renderMs)],
    ready: (printed) => (printed.includes('\n') ? JSON.parse(printed) : undefined),
  })
  stopping.push(vendor)
  return vendor.answer.port
}

function freshFolder(name) {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

async function stopAll() {
  await Promise.all(stopping.splice(0).map((running) => running.stop()))
}

function requireTool(tool) {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' })
  } catch (error) {
    throw new Error(`${tool} is missing; on Debian: apt-get install nginx-light wrk util-linux`, {
      cause: error,
    })
  }
}

function keep(text) {
  const file = freeName(new Date().toISOString().slice(0, 10))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${text.trimEnd()}\n`)
  process.stderr.write(`wrote ${file}\n`)
}

/** A second report of one day does not replace the first. */
function freeName(day, count = 1) {
  const file = join(bench, 'results', `${day}${count === 1 ? '' : `-${count}`}.md`)
  return existsSync(file) ? freeName(day, count + 1) : file
}
