/** Runs the load generators on their core and reads what they found. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { smallRequest } from './answers.mjs'

const run = promisify(execFile)
const LOAD = fileURLToPath(new URL('load.mjs', import.meta.url))
const VIDEO_LOAD = fileURLToPath(new URL('video-load.mjs', import.meta.url))

/** Our own generator. */
export function load(core, job) {
  return runLoad(core, LOAD, job).result
}

/** The same for a job that goes on until `end` is called. */
export function startLoad(core, job) {
  const running = runLoad(core, LOAD, job)
  return { result: running.result, end: () => running.child.stdin.end() }
}

/** Clients that order videos and wait for them. */
export function orderVideos(core, job) {
  return runLoad(core, VIDEO_LOAD, job).result
}

function runLoad(core, file, job) {
  const running = run('taskset', ['-c', String(core), process.execPath, file, JSON.stringify(job)], {
    maxBuffer: 1 << 26,
  })
  return { child: running.child, result: running.then(({ stdout }) => JSON.parse(stdout)) }
}

/** wrk, for small calls as fast as they are answered: in C it leaves more of its core to the upstream. */
export async function wrk({ core, folder, target, connections, seconds }) {
  const script = join(folder, 'wrk.lua')
  const headers = Object.entries({ 'content-type': 'application/json', ...target.headers })
  const lua = [
    'wrk.method = "POST"',
    `wrk.body = [==[${smallRequest(target.model)}]==]`,
    ...headers.map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`),
  ]
  writeFileSync(script, lua.join('\n'))
  const address = `http://127.0.0.1:${target.port}${target.path}`
  const args = [
    '-c',
    String(core),
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '20s',
    '-s',
    script,
    address,
  ]
  const { stdout } = await run('taskset', args)
  const answered = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0)
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0)
  const broken =
    /Socket errors: (.*)/
      .exec(stdout)?.[1]
      ?.match(/\d+/g)
      ?.reduce((sum, count) => sum + Number(count), 0) ?? 0
  return { answered: answered - refused, failed: refused + broken, seconds: Number(seconds) }
}
