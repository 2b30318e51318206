/**
 * node bench/allocations.mjs [functions to show]
 *
 * What a small call allocates on the thread that serves it, in bytes and by function. Unlike time, that is the same on a
 * busy machine: to see whether a change helps, compare two of these first.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { root } from '../tools/project/tree.mjs'
import { startContestant } from './src/contestants.mjs'
import { wrk } from './src/drive.mjs'
import { startUpstream } from './src/nginx.mjs'

const SHOWN = Number(process.argv[2] ?? 40)
const CONNECTIONS = 64
const WARM_SECONDS = 12
const SECONDS = 5
const LOOKS_MAX = 100

const folder = mkdtempSync(join(tmpdir(), 'allocations-'))
const file = join(folder, 'profile.json')
process.env.NODE_OPTIONS = `--require ${join(root, 'bench/src/allocation-sampler.cjs')}`
process.env.ALLOCATION_PROFILE = file
const upstream = await startUpstream({ core: 1, folder })
const gateway = await startContestant({
  name: 'sluice',
  core: 0,
  clientCore: 1,
  folder,
  root,
  upstream: { wholePort: upstream.port, streamPort: upstream.port },
})
try {
  await drive(WARM_SECONDS)
  process.kill(gateway.pid, 'SIGUSR2')
  const { answered } = await drive(SECONDS)
  process.kill(gateway.pid, 'SIGUSR2')
  console.log(tableOf(await profile(), answered))
} finally {
  await gateway.stop()
  await upstream.stop()
  rmSync(folder, { recursive: true, force: true })
}

function drive(seconds) {
  return wrk({ core: 1, folder, target: gateway.target('small'), connections: CONNECTIONS, seconds })
}

/** Written in one go, in a moment. */
async function profile() {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    await wait(200)
    if (!existsSync(file)) continue
    const text = readFileSync(file, 'utf8')
    if (text.endsWith('}')) return JSON.parse(text)
  }
  throw new Error(`the gateway has written no profile:\n${gateway.printed()}`)
}

function tableOf({ head }, calls) {
  const bytes = new Map()
  let total = 0
  const visit = ({ callFrame, selfSize, children }) => {
    const { functionName, url, lineNumber, columnNumber } = callFrame
    const place = `${functionName || '(anonymous)'} ${basename(url)}:${lineNumber + 1}:${columnNumber + 1}`
    bytes.set(place, (bytes.get(place) ?? 0) + selfSize)
    total += selfSize
    for (const child of children) visit(child)
  }
  visit(head)
  const lines = [...bytes]
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN)
    .map(([place, size]) => `${(size / calls).toFixed(0).padStart(8)}  ${place}`)
  return [`${(total / calls).toFixed(0)} bytes a call, ${calls} calls`, ...lines].join('\n')
}
