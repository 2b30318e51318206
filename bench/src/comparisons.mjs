/**
 * The comparisons. Each runs all contestants in turn, round after round, so that what the machine does meanwhile meets all
 * of them, and gives one row of figures per contestant and round.
 */
import { LARGEST_BYTES } from './answers.mjs'
import { load, orderVideos, startLoad, wrk } from './drive.mjs'
import { measureStart } from './start.mjs'
import { cpuSeconds, residentBytes, watchMemory } from './processes.mjs'

const MIB = 1_048_576
const CHUNKS_PER_STREAM = 200
const PEAK_EVERY_MS = 10

export const COMPARISONS = {
  small: {
    title: 'Small calls: 1.2 KB answers, 64 connections, as fast as they are answered',
    figure: 'answered per CPU second',
    better: 'more',
    goals: [
      { against: 'nginx', atLeast: 0.25 },
      { against: 'portkey', atLeast: 8 },
    ],
    run: ({ contestant, setup }) => perCpuSecond({ contestant, setup, job: () => wrkJob(contestant, setup) }),
  },
  bodies: {
    title: '5 MB JSON bodies, 8 connections',
    figure: 'answered per CPU second',
    better: 'more',
    goals: [
      { against: 'nginx', atLeast: 0.3 },
      { against: 'portkey', atLeast: 8 },
    ],
    run: ({ contestant, setup }) =>
      perCpuSecond({
        contestant,
        setup,
        job: () =>
          load(setup.clientCore, {
            kind: 'closed',
            mode: 'body',
            target: contestant.target('body'),
            connections: 8,
            seconds: setup.seconds,
          }),
      }),
  },
  latency: {
    title: 'Added latency at 30 % of the own maximum, against the upstream called directly',
    figure: 'added p50, ms',
    better: 'less',
    goals: [
      { figure: 'added p50, ms', atMost: 1 },
      { figure: 'added p99, ms', atMost: 5 },
    ],
    run: addedLatency,
  },
  steady: {
    title: '300 small calls a second, whatever could be reached',
    figure: 'CPU µs per call',
    better: 'less',
    goals: [
      { figure: 'CPU µs per call', atMost: 600 },
      { figure: 'added p50, ms', atMost: 1 },
      { figure: 'added p99, ms', atMost: 5 },
    ],
    run: ({ contestant, setup }) => addedAt(300, contestant, setup),
  },
  postgres: {
    title: 'Small calls on SQLite and on PostgreSQL, whose server runs on the core of the load generator',
    figure: 'CPU µs per call',
    better: 'less',
    goals: [{ of: 'on-postgres', against: 'sluice', atMost: 2 }],
    contestants: ['sluice', 'on-postgres'],
    run: ({ contestant, setup }) => perCpuSecond({ contestant, setup, job: () => wrkJob(contestant, setup) }),
  },
  embeddings: {
    title: 'Embeddings and chat: 0.4 KB in, 1.2 KB out, 64 connections',
    figure: 'CPU µs per call',
    better: 'less',
    goals: [{ figure: 'CPU µs per call, of a chat call’s', atMost: 1 }],
    only: ['sluice'],
    run: (round) => againstChat(round, { chat: 'small', passed: 'embed-small', connections: 64 }),
  },
  'embeddings-large': {
    title: 'Embeddings and chat: 1 MB in, 1.2 KB out, 8 connections',
    figure: 'CPU µs per call',
    better: 'less',
    goals: [{ figure: 'CPU µs per call, of a chat call’s', atMost: 1 }],
    only: ['sluice'],
    run: (round) => againstChat(round, { chat: 'megabyte', passed: 'embed-megabyte', connections: 8 }),
  },
  images: {
    title: 'Images and chat: 0.4 KB in, 1.2 KB out, 64 connections',
    figure: 'CPU µs per call',
    better: 'less',
    goals: [{ figure: 'CPU µs per call, of a chat call’s', atMost: 1 }],
    only: ['sluice'],
    run: (round) => againstChat(round, { chat: 'small', passed: 'image-small', connections: 64 }),
  },
  start: {
    title: 'A start on a database that is there, a process at rest, and the command',
    figure: 'second start, ms',
    better: 'less',
    goals: [
      { figure: 'second start, ms', atMost: 1_000 },
      { figure: 'resident MiB at rest', atMost: 150 },
      { figure: 'sluice --help, ms', atMost: 400 },
      { figure: 'sluice accounts list, ms', atMost: 700 },
    ],
    only: ['sluice'],
    run: ({ setup }) => measureStart(setup),
  },
  streams: {
    title: '200 streams of 200 chunks, paced to 10 000 chunks a second',
    figure: 'CPU µs per chunk',
    better: 'less',
    goals: [
      { against: 'nginx', atMost: 2.2 },
      { against: 'portkey', atMost: 0.5 },
    ],
    run: pacedStreams,
  },
  'converted-small': {
    title: 'Small calls passed (chat to chat) and converted (messages to chat), 64 connections',
    figure: 'answered per CPU second',
    better: 'more',
    goals: [{ of: 'converted', against: 'sluice', atLeast: 0.7 }],
    contestants: ['sluice', 'converted'],
    run: ({ contestant, setup }) => perCpuSecond({ contestant, setup, job: () => wrkJob(contestant, setup) }),
  },
  'converted-streams': {
    title: '200 streams of 200 chunks passed (chat to chat) and converted (chat to messages)',
    figure: 'CPU µs per chunk',
    better: 'less',
    goals: [{ of: 'converted', against: 'sluice', atMost: 1.35 }],
    contestants: ['sluice', 'converted'],
    run: pacedStreams,
  },
  'slow-streams': {
    title: '5 000 concurrent slow streams: one chunk a second, 20 s',
    figure: 'resident MiB',
    better: 'less',
    goals: [
      { figure: 'resident MiB', atMost: 430 },
      { figure: 'failed', atMost: 0 },
      { figure: 'unbilled', atMost: 0 },
    ],
    rounds: 1,
    only: ['sluice'],
    run: slowStreams,
  },
  'unread-streams': {
    title:
      '5 000 clients that read nothing of their endless streams, and 300 small calls a second beside them',
    figure: 'resident KiB per client',
    better: 'less',
    goals: [
      { figure: 'resident KiB per client', atMost: 256 },
      { figure: 'CPU µs per call, of one without them', atMost: 1.25 },
      { figure: 'failed', atMost: 0 },
    ],
    rounds: 1,
    only: ['sluice'],
    run: unreadStreams,
  },
  'largest-body': {
    title: 'One body of 100 MiB',
    figure: 'MiB beyond the body',
    better: 'less',
    goals: [
      { figure: 'MiB beyond the body', atMost: 64 },
      { figure: 'longest block, ms', atMost: 20 },
      { figure: 'failed', atMost: 0 },
    ],
    // Memory that was used once is not given back, so only the first body of a process tells.
    rounds: 1,
    only: ['sluice'],
    run: largestBody,
  },
  videos: {
    title: '5 000 concurrent video tasks of 45 s, each waited for by a client, polled every 10 s',
    figure: 'resident MiB',
    better: 'less',
    goals: [
      { figure: 'resident MiB', atMost: 600 },
      { figure: 'failed', atMost: 0 },
      { figure: 'polls too early', atMost: 0 },
      { figure: 'ordered twice', atMost: 0 },
      { figure: 'unbilled', atMost: 0 },
    ],
    rounds: 1,
    only: ['sluice'],
    renderMs: 45_000,
    run: videos,
  },
}

const wrkJob = (contestant, { clientCore, folder, seconds }) =>
  wrk({ core: clientCore, folder, target: contestant.target('small'), connections: 64, seconds })

async function perCpuSecond({ contestant, setup, job }) {
  const before = cpuSeconds(contestant.pid)
  const serverBefore = cpuOfServer(contestant)
  const { answered, failed, seconds } = await job()
  await settled(setup)
  const cpu = cpuSeconds(contestant.pid) - before
  const serverCpu = cpuOfServer(contestant) - serverBefore
  return {
    'answered per CPU second': answered / cpu,
    'answered per second': answered / seconds,
    'CPU µs per call': (cpu * 1e6) / answered,
    ...(contestant.serverPid === undefined
      ? {}
      : { 'CPU µs per call, of the database server': (serverCpu * 1e6) / answered }),
    failed,
    'resident MiB': residentBytes(contestant.pid) / MIB,
  }
}

const cpuOfServer = ({ serverPid }) => (serverPid === undefined ? 0 : cpuSeconds(serverPid))

/** Calls of a kind that is passed on beside calls of chat of the same size: `chat` and `passed` are modes. */
async function againstChat({ contestant, setup }, { chat, passed, connections }) {
  const costOf = async (mode) => {
    const job = { kind: 'closed', mode, target: contestant.target(mode), connections, seconds: setup.seconds }
    return perCpuSecond({ contestant, setup, job: () => load(setup.clientCore, job) })
  }
  const ofChat = await costOf(chat)
  const { 'CPU µs per call': cost, failed } = await costOf(passed)
  return {
    'CPU µs per call': cost,
    'CPU µs per call, of a chat call’s': cost / ofChat['CPU µs per call'],
    'CPU µs per chat call': ofChat['CPU µs per call'],
    failed: failed + ofChat.failed,
  }
}

/** What was answered is still being written down for a moment; that work counts too. */
const settled = (setup) => new Promise((resolve) => setTimeout(resolve, setup.settleMs))

async function addedLatency({ contestant, setup, memory }) {
  const key = `${contestant.name} maximum`
  if (memory[key] === undefined) {
    const { answered, seconds } = await wrkJob(contestant, setup)
    memory[key] = answered / seconds
  }
  return addedAt(Math.max(1, Math.floor(memory[key] * 0.3)), contestant, setup)
}

/** `rate`: calls a second. */
async function addedAt(rate, contestant, setup) {
  const connections = 64
  const job = { kind: 'open', mode: 'small', connections, seconds: setup.seconds, rate }
  const direct = await load(setup.clientCore, { ...job, target: setup.direct('small') })
  const before = cpuSeconds(contestant.pid)
  const through = await load(setup.clientCore, { ...job, target: contestant.target('small') })
  await settled(setup)
  const cpu = cpuSeconds(contestant.pid) - before
  return {
    'added p50, ms': through.p50 - direct.p50,
    'added p99, ms': through.p99 - direct.p99,
    'p50, ms': through.p50,
    'p99, ms': through.p99,
    'direct p50, ms': direct.p50,
    'direct p99, ms': direct.p99,
    'calls a second': rate,
    'CPU µs per call': (cpu * 1e6) / through.answered,
    failed: through.failed + direct.failed,
  }
}

async function pacedStreams({ contestant, setup }) {
  const before = cpuSeconds(contestant.pid)
  const job = {
    kind: 'streams',
    mode: 'stream',
    target: contestant.target('stream'),
    connections: setup.streams,
  }
  const { complete, failed, seconds } = await load(setup.clientCore, job)
  await settled(setup)
  const cpu = cpuSeconds(contestant.pid) - before
  const chunks = setup.streams * CHUNKS_PER_STREAM
  return {
    'CPU µs per chunk': (cpu * 1e6) / chunks,
    'chunks a second': chunks / seconds,
    complete,
    failed,
    'resident MiB': residentBytes(contestant.pid) / MIB,
  }
}

async function slowStreams({ contestant, setup }) {
  const billedBefore = await billed(contestant)
  const peak = watchMemory(contestant.pid)
  const before = cpuSeconds(contestant.pid)
  const job = {
    kind: 'streams',
    mode: 'slow',
    target: contestant.target('slow'),
    connections: setup.slowStreams,
  }
  const { complete, failed } = await load(setup.clientCore, job)
  await settled(setup)
  const cpu = cpuSeconds(contestant.pid) - before
  const billedCalls = (await billed(contestant)) - billedBefore
  return {
    'resident MiB': peak() / MIB,
    complete,
    failed,
    ...(contestant.opsPort === undefined ? {} : { unbilled: setup.slowStreams - billedCalls }),
    'CPU seconds': cpu,
  }
}

/** Until what the buffers of the system take has been sent. */
const REST_SECONDS_MAX = 240
/** Longer than the upstream waits before it begins. */
const REST_SECONDS = 6
const RESTING_CPU_SHARE = 0.25

async function unreadStreams({ contestant, setup }) {
  const without = await addedAt(300, contestant, setup)
  const before = residentBytes(contestant.pid)
  const clients = setup.slowStreams
  const target = contestant.target('unread')
  await longestBlockMs(contestant)
  const streams = startLoad(setup.clientCore, {
    kind: 'unread',
    mode: 'unread',
    target,
    connections: clients,
  })
  const { open, share, blockMs } = await atRest(contestant, clients)
  const beside = await addedAt(300, contestant, setup)
  const resident = residentBytes(contestant.pid)
  streams.end()
  const { failed } = await streams.result
  return {
    'resident KiB per client': (resident - before) / clients / 1_024,
    'longest block as they begin, ms': blockMs,
    'CPU share at rest': share,
    'CPU µs per call': beside['CPU µs per call'],
    'CPU µs per call, of one without them': beside['CPU µs per call'] / without['CPU µs per call'],
    'p50, ms': beside['p50, ms'],
    'p99, ms': beside['p99, ms'],
    'p50, ms, without them': without['p50, ms'],
    'p99, ms, without them': without['p99, ms'],
    failed: failed + clients - open + beside.failed + without.failed,
  }
}

/** What runs once nothing more of the streams is sent: `share` is of one core, `blockMs` the longest block until then. */
async function atRest({ pid, opsPort }, clients) {
  let quiet = 0
  let blockMs = 0
  for (let seconds = 0; ; seconds += 1) {
    const before = cpuSeconds(pid)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const share = cpuSeconds(pid) - before
    quiet = share <= RESTING_CPU_SHARE ? quiet + 1 : 0
    // Each look at the metrics begins the longest block anew.
    const [open, ...blocks] = await metrics(opsPort, ['sluice_open_calls', ...BLOCKS])
    blockMs = Math.max(blockMs, longestOf(blocks))
    if ((open === clients && quiet >= REST_SECONDS) || seconds > REST_SECONDS_MAX)
      return { open, share, blockMs }
  }
}

async function largestBody({ contestant, setup }) {
  await longestBlockMs(contestant)
  const before = residentBytes(contestant.pid)
  const peak = watchMemory(contestant.pid, PEAK_EVERY_MS)
  const job = { kind: 'once', mode: 'largest', target: contestant.target('body') }
  const { failed, seconds } = await load(setup.clientCore, job)
  return {
    'MiB beyond the body': (peak() - before - LARGEST_BYTES) / MIB,
    'longest block, ms': await longestBlockMs(contestant),
    seconds,
    failed,
  }
}

/** All orders arrive within ten seconds, which is faster than any vendor takes them. */
const ORDERING_SECONDS = 10

async function videos({ contestant, setup }) {
  const peak = watchMemory(contestant.pid)
  const before = cpuSeconds(contestant.pid)
  await longestBlockMs(contestant)
  const { finished, failed, firstFailure, seconds, longestSeconds } = await orderVideos(setup.clientCore, {
    target: {
      port: contestant.port,
      path: '/v1/videos',
      headers: contestant.headers,
      model: 'bench-video',
    },
    tasks: setup.videos,
    ordersPerSecond: setup.videos / ORDERING_SECONDS,
  })
  if (firstFailure !== undefined) process.stderr.write(`${firstFailure}\n`)
  await settled(setup)
  const cpu = cpuSeconds(contestant.pid) - before
  const vendor = await (await fetch(`http://127.0.0.1:${contestant.videoPort}/figures`)).json()
  return {
    'resident MiB': peak() / MIB,
    'CPU seconds': cpu,
    'CPU ms per task': (cpu * 1_000) / setup.videos,
    'CPU share': cpu / seconds,
    'longest block, ms': await longestBlockMs(contestant),
    finished,
    failed,
    unbilled: setup.videos - (await billedVideos(contestant)),
    'ordered twice': vendor.ordered - setup.videos,
    'polls per task': vendor.polls / setup.videos,
    'polls too early': vendor.tooEarly,
    'longest wait, s': longestSeconds,
  }
}

async function billedVideos({ opsPort }) {
  return Math.round((await deducted(opsPort, 'bench-video')) / CREDITS_OF_ONE_VIDEO)
}

/** 4 seconds at half a yuan, 1 000 Credits a yuan. */
const CREDITS_OF_ONE_VIDEO = 2_000

/** The second says how long a block has lasted that goes on. */
const BLOCKS = ['nodejs_eventloop_lag_max_seconds', 'sluice_main_thread_silent_seconds']

/** Of the event loop, in ms. Its monitors tick every 10 and 500 ms, and count that as delay. */
const longestOf = ([lag, silent]) => Math.max(0, lag * 1_000 - 10, silent * 1_000 - 500)

/** Since it was asked last. */
const longestBlockMs = async ({ opsPort }) => longestOf(await metrics(opsPort, BLOCKS))

/** Credits of a model's calls. */
const deducted = (opsPort, model) => metric(opsPort, `sluice_credits_total{model="${model}",kind="deducted"}`)

const metric = async (opsPort, name) => (await metrics(opsPort, [name]))[0]

/** 0 while nothing was counted. `names`: with their labels, as they are printed. */
async function metrics(opsPort, names) {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/metrics`)
  const lines = (await answer.text()).split('\n')
  return names.map((name) => {
    const line = lines.find((text) => text.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1) ?? 0)
  })
}

/** Calls of the slow model that were charged, from what was deducted: each costs the same. */
async function billed({ opsPort }) {
  if (opsPort === undefined) return 0
  return Math.round((await deducted(opsPort, 'bench-slow')) / CREDITS_OF_ONE_STREAM)
}

/** 60 tokens at 10 yuan and 180 at 40 yuan a million, 1 000 Credits a yuan. */
const CREDITS_OF_ONE_STREAM = ((60 * 10 + 180 * 40) / 1_000_000) * 1_000
