/** Messages to a process that has ended, of which this one has not heard yet. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { post } from './post.ts'

let directory: string
let script: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-post-'))
  script = join(directory, 'echo.mjs')
  writeFileSync(script, "process.on('message', (message) => process.send(message)); process.send('ready')")
})

afterAll(() => rmSync(directory, { recursive: true }))

async function startEcho(): Promise<ChildProcess> {
  const child = fork(script)
  await once(child, 'message')
  return child
}

/** Without a turn of the event loop, in which the end would be noticed. */
function killUnnoticed({ pid = Number.NaN }: ChildProcess): void {
  process.kill(pid, 'SIGKILL')
  const latest = performance.now() + 60_000
  while (!hasEnded(pid))
    if (performance.now() > latest) throw new Error(`process ${pid} was killed and does not end`)
}

/** The first thread may be gone while another one still holds the channel open: what is sent then is accepted, and lost. */
function hasEnded(pid: number): boolean {
  return (
    /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) && readdirSync(`/proc/${pid}/task`).length === 1
  )
}

test('a message arrives, and nothing is told', async () => {
  const child = await startEcho()
  let unsent = 0
  post(child, { kind: 'look', id: 1 }, () => {
    unsent += 1
  })
  expect(await once(child, 'message')).toContainEqual({ kind: 'look', id: 1 })
  child.disconnect()
  await once(child, 'exit')
  expect(unsent).toBe(0)
})

test('a process that was just killed is told of, and no error is thrown', async () => {
  const child = await startEcho()
  const errors: unknown[] = []
  child.on('error', (error) => errors.push(error))
  const ended = once(child, 'exit')
  killUnnoticed(child)
  expect(child.connected).toBe(true)
  const unsent = new Promise<string>((resolve) => post(child, 'x', () => resolve('unsent')))
  post(child, 'nobody waits for it')
  expect(await unsent).toBe('unsent')
  await ended
  // Now it is known.
  await expect(new Promise<void>((resolve) => post(child, 'x', resolve))).resolves.toBeUndefined()
  expect(errors).toEqual([])
})

test('a process without a channel tells nothing', () => {
  let unsent = 0
  post({}, 'x', () => {
    unsent += 1
  })
  expect(unsent).toBe(0)
})
