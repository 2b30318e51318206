/** Starts processes on a chosen core, and reads from /proc what they and their children used. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100
const STOP_MS = 10_000

/** `ready` looks at what the process printed and returns something once it can be used. */
export async function startPinned({ core, file, args, env = {}, cwd, ready }) {
  const child = spawn('taskset', ['-c', String(core), file, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  const answer = await new Promise((resolve, reject) => {
    const look = (data) => {
      printed = (printed + data).slice(-100_000)
      const found = ready(printed)
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.once('error', reject)
    child.once('exit', (code) =>
      reject(new Error(`${file} ${args.join(' ')} ended with ${code}:\n${printed.slice(-2_000)}`)),
    )
  })
  child.removeAllListeners('exit')
  return { answer, pid: child.pid, stop: () => stop(child), printed: () => printed }
}

function stop(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve()
      return
    }
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}

/** Seconds of CPU of a process, all its threads and its children. */
export function cpuSeconds(pid) {
  return familyOf(pid).reduce((sum, member) => sum + ticksOf(member), 0) / TICKS_PER_SECOND
}

/** Resident bytes, now. */
export function residentBytes(pid) {
  return familyOf(pid).reduce((sum, member) => {
    const kib = /VmRSS:\s+(\d+)/.exec(readProc(`${member}/status`))?.[1]
    return sum + Number(kib ?? 0) * 1_024
  }, 0)
}

/** Looks at the resident bytes until told to stop; gives the highest. */
export function watchMemory(pid, everyMs = 200) {
  let peak = residentBytes(pid)
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid))
  }, everyMs)
  return () => {
    clearInterval(timer)
    return peak
  }
}

function familyOf(pid) {
  const parents = new Map()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = statFields(name)?.[1]
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const family = [pid]
  for (const member of family)
    for (const [child, parent] of parents) if (parent === member) family.push(child)
  return family
}

function ticksOf(pid) {
  const fields = statFields(pid)
  if (fields === undefined) return 0
  // Its own, and of the children that have ended since: a database server has one for each connection.
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
}

/** The fields of /proc/pid/stat behind the name, which may hold blanks. */
function statFields(pid) {
  const text = readProc(`${pid}/stat`)
  return text === '' ? undefined : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** A process that ends while it is looked at reads as nothing. */
function readProc(path) {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return ''
    throw error
  }
}
