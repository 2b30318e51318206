import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exampleAbandon, exampleSettle } from '../../../core/calls/examples.ts'
import { instanceId } from '../../../core/ids.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { EndStore } from './pending-operations.ts'
import { openUnsettledFiles, readUnsettled, type UnsettledFilesOptions } from './unsettled-files.ts'
import type { PendingOperation } from './pending-operation.ts'

const OPERATIONS: readonly PendingOperation[] = [
  exampleSettle('call_1', { usage: { input: 1_000, output: 100 } }),
  exampleAbandon('call_2'),
  { ...exampleAbandon('call_3'), kind: 'lost-reservation' },
]
const ALL = ['settle call_1', 'abandon call_2', 'log call_3', 'abandon call_3']

let dataDirectory: string
let taken: string[]
let logged: string[]
let answers: (callId: string) => Promise<void>
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'sluice-unsettled-'))
  taken = []
  logged = []
  answers = () => Promise.resolve()
})
afterEach(() => rm(dataDirectory, { recursive: true }))

const note = (level: string) => (_fields: object, message: string) => void logged.push(`${level}: ${message}`)

function open(changes: Partial<UnsettledFilesOptions> = {}) {
  const answer = async (verb: string, callId: string) => {
    await answers(callId)
    taken.push(`${verb} ${callId}`)
    return { kind: 'done' as const }
  }
  const calls: EndStore = {
    settle: async ({ callId, amount }) => {
      await answer('settle', callId)
      return { kind: 'settled', first: true, late: false, deducted: amount }
    },
    abandon: ({ callId }) => answer('abandon', callId),
    log: ({ log }) => answer('log', log.callId),
  }
  return openUnsettledFiles({
    dataDirectory,
    instance: instanceId('stopped'),
    calls,
    telemetry: { log: { warn: note('warn'), error: note('error') } as unknown as Log },
    now: Date.now,
    ...changes,
  })
}

const folder = () => join(dataDirectory, 'unsettled')
const names = async () => (await readdir(folder())).toSorted()
const away = () => Promise.reject(new StorageUnavailable('away'))

test('what a process could not write is settled by the next one, and the file is gone', async () => {
  await open().write(OPERATIONS)
  const mode = (await stat(join(folder(), 'stopped-1.jsonl'))).mode
  expect([await names(), (mode & 0o777).toString(8)]).toEqual([['stopped-1.jsonl'], '600'])
  expect(await open({ instance: instanceId('next') }).settle()).toBe(3)
  expect(taken.toSorted()).toEqual(ALL.toSorted())
  expect(await names()).toEqual([])
  expect(await open().settle()).toBe(0)
})

test('nothing to keep makes no file, and takes away the one written before', async () => {
  const files = open()
  await files.write([])
  await expect(readdir(folder())).rejects.toThrow('ENOENT')
  await files.write(OPERATIONS)
  await files.write([])
  expect(await names()).toEqual([])
})

test('a file that is written anew has a new name, so that who reads the old one removes no more than it read', async () => {
  const files = open()
  await files.write(OPERATIONS.slice(0, 1))
  await files.write(OPERATIONS)
  expect(await names()).toEqual(['stopped-2.jsonl'])
})

test('a store that is away leaves the file as it was', async () => {
  await open().write(OPERATIONS)
  answers = away
  expect(await open().settle()).toBe(0)
  expect(await names()).toEqual(['stopped-1.jsonl'])
  answers = () => Promise.resolve()
  expect(await open().settle()).toBe(3)
})

test('a crash between settling and removing settles the same operations once more', async () => {
  await open().write(OPERATIONS)
  const file = join(folder(), 'stopped-1.jsonl')
  const text = await readFile(file)
  await open().settle()
  await writeFile(file, text)
  expect(await open().settle()).toBe(3)
  expect(taken.toSorted()).toEqual([...ALL, ...ALL].toSorted())
})

test('two processes at once both settle it, and neither fails', async () => {
  await open().write(OPERATIONS)
  await Promise.all([
    open({ instance: instanceId('next') }).settle(),
    open({ instance: instanceId('other') }).settle(),
  ])
  expect(new Set(taken)).toEqual(new Set(ALL))
  expect(await names()).toEqual([])
  expect(logged.filter((line) => line.startsWith('error'))).toEqual([])
})

test.each<readonly [string, (text: string) => string, number]>([
  ['a bit that has tipped', (text) => text.replace('call_2', 'call_9'), 1],
  ['a file that was cut short', (text) => text.slice(0, -40), 1],
  ['a line of something else', (text) => `${text}hello\n`, 1],
  ['a damaged head', (text) => text.replace('sluice-unsettled', 'sluice-unsettlex'), 1],
])('%s is kept aside and told of; the other lines are settled', async (_, damage, lines) => {
  await open().write(OPERATIONS)
  const file = join(folder(), 'stopped-1.jsonl')
  await writeFile(file, damage(await readFile(file, 'utf8')))
  await open().settle()
  expect(await names()).toEqual(['stopped-1.jsonl.damaged'])
  expect((await readFile(`${file}.damaged`, 'utf8')).trimEnd().split('\n')).toHaveLength(lines)
  expect(logged).toContain('error: lines of unsettled calls that cannot be settled were kept aside')
  expect(await readUnsettled(dataDirectory)).toEqual({ waiting: [], aside: [`${file}.damaged`] })
})

test('an operation that the store refuses is kept aside as it was, and may be put back', async () => {
  await open().write(OPERATIONS)
  answers = (callId) => (callId === 'call_2' ? Promise.reject(new Error('out of range')) : Promise.resolve())
  expect(await open().settle()).toBe(2)
  const aside = join(folder(), 'stopped-1.jsonl.damaged')
  await writeFile(join(folder(), 'again.jsonl'), await readFile(aside))
  answers = () => Promise.resolve()
  expect(await open().settle()).toBe(1)
  expect(taken.at(-1)).toBe('abandon call_2')
})

test('a file of a newer build is left alone', async () => {
  await open().write(OPERATIONS)
  const file = join(folder(), 'stopped-1.jsonl')
  const [, ...lines] = (await readFile(file, 'utf8')).split('\n')
  const head = JSON.stringify({ format: 'sluice-unsettled', version: 2 })
  const sum = createHash('sha256').update(head).digest('hex').slice(0, 16)
  await writeFile(file, [`${sum} ${head}`, ...lines].join('\n'))
  expect(await open().settle()).toBe(0)
  expect([await names(), taken]).toEqual([['stopped-1.jsonl'], []])
})

test('the file of a process that was killed while it wrote is settled as far as it is complete, once it is no longer written', async () => {
  await open().write(OPERATIONS)
  const text = await readFile(join(folder(), 'stopped-1.jsonl'), 'utf8')
  await rm(join(folder(), 'stopped-1.jsonl'))
  const partial = join(folder(), 'killed-1.jsonl.partial')
  await writeFile(partial, text.slice(0, -10))
  expect(await open().settle()).toBe(0)
  await utimes(partial, new Date(0), new Date(0))
  expect(await open().settle()).toBe(2)
  expect(await names()).toEqual(['killed-1.jsonl.partial.damaged'])
})

test('where no file can be written, each operation is written to the log', async () => {
  await writeFile(folder(), 'in the way')
  await open().write(OPERATIONS)
  expect(logged).toEqual([
    'error: ends of calls could not be kept in a file',
    ...OPERATIONS.map(() => 'error: only this log line holds the unsettled end of a call'),
  ])
})

/** Of POSIX. */
const MAKE_PIPE = 'mkfifo'
const lineOf = (text: string) => `${createHash('sha256').update(text).digest('hex').slice(0, 16)} ${text}\n`

test('a file in place of the folder is logged and does not prevent a start', async () => {
  await writeFile(folder(), 'in the way')
  expect(await open().settle()).toBe(0)
  expect(logged).toEqual(['error: files of unsettled calls cannot be looked for'])
})

test('anything but a file is logged and left unchanged, and the target of a link is not read', async () => {
  const outside = join(dataDirectory, 'outside')
  await writeFile(outside, 'of somebody else')
  await mkdir(join(folder(), 'directory.jsonl'), { recursive: true })
  await symlink(outside, join(folder(), 'link.jsonl'))
  execFileSync(MAKE_PIPE, [join(folder(), 'pipe.jsonl')])
  await open().write(OPERATIONS)
  expect(await open({ instance: instanceId('next') }).settle()).toBe(3)
  expect(await names()).toEqual(['directory.jsonl', 'link.jsonl', 'pipe.jsonl'])
  expect(await readFile(outside, 'utf8')).toBe('of somebody else')
  expect(logged.filter((line) => line.startsWith('error'))).toEqual(
    Array.from({ length: 3 }, () => 'error: a file of unsettled calls cannot be read'),
  )
})

test('a file that is to be written through a link of its name is not', async () => {
  const outside = join(dataDirectory, 'outside')
  await writeFile(outside, 'of somebody else')
  await mkdir(folder())
  await symlink(outside, join(folder(), 'stopped-1.jsonl.partial'))
  await open().write(OPERATIONS)
  expect(await readFile(outside, 'utf8')).toBe('of somebody else')
  expect(logged).toContain('error: ends of calls could not be kept in a file')
})

test.each<readonly [string, (lines: readonly string[]) => readonly string[], number, readonly string[]]>([
  ['the last two lines', (lines) => lines.slice(0, 2), 1, ['settle call_1']],
  ['all lines', () => [], 0, []],
])('a file that has lost %s is told of, and something is kept aside', async (_, cut, count, ended) => {
  await open().write(OPERATIONS)
  const file = join(folder(), 'stopped-1.jsonl')
  const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
  const left = cut(lines)
  await writeFile(file, left.map((line) => `${line}\n`).join(''))
  expect(await open().settle()).toBe(count)
  expect(taken).toEqual(ended)
  expect(await readUnsettled(dataDirectory)).toEqual({ waiting: [], aside: [`${file}.damaged`] })
  expect(logged).toContain('error: a file of unsettled calls has lost lines')
})

test('damaged bytes are kept aside as they were, so that who mends them has the line again', async () => {
  await open().write(OPERATIONS)
  const file = join(folder(), 'stopped-1.jsonl')
  const bytes = await readFile(file)
  const at = bytes.indexOf('call_2')
  bytes[at] = (bytes[at] ?? 0) ^ 0x80
  await writeFile(file, bytes)
  await open().settle()
  const aside = await readFile(`${file}.damaged`)
  aside[aside.indexOf('all_2') - 1] = 'c'.charCodeAt(0)
  await writeFile(file, aside)
  expect(await open().settle()).toBe(1)
  expect(taken.at(-1)).toBe('abandon call_2')
})

test('lines that were set aside before are kept beside new ones', async () => {
  await open().write(OPERATIONS)
  const file = join(folder(), 'stopped-1.jsonl')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('call_2', 'call_9'))
  await open().settle()
  await writeFile(file, text.replace('call_1', 'call_8'))
  await open().settle()
  const aside = await readFile(`${file}.damaged`, 'utf8')
  expect(aside.trimEnd().split('\n')).toHaveLength(2)
  expect(aside).toMatch(/call_9/)
  expect(aside).toMatch(/call_8/)
})

test('a charge of a build that knew one currency has its rate', async () => {
  await open().write(OPERATIONS.slice(0, 1))
  const file = join(folder(), 'stopped-1.jsonl')
  const [head = '', line = ''] = (await readFile(file, 'utf8')).split('\n')
  await writeFile(file, `${head}\n${lineOf(line.slice(17).replaceAll('creditsPerUnit', 'creditsPerYuan'))}`)
  const rates: unknown[] = []
  const calls: EndStore = {
    settle: ({ recipe, log, amount }) => {
      rates.push(recipe.creditsPerUnit, log.recipe?.creditsPerUnit)
      return Promise.resolve({ kind: 'settled', first: true, late: false, deducted: amount })
    },
    abandon: () => Promise.resolve({ kind: 'done' }),
    log: () => Promise.resolve({ kind: 'done' }),
  }
  expect(await open({ calls }).settle()).toBe(1)
  const [operation] = OPERATIONS
  const log = operation?.log.recipe?.creditsPerUnit
  expect(rates).toEqual(['1000', log])
})

test('a charge of a build that reported each quantity separately counts the same in windows as there', async () => {
  const { used, ...operation } = exampleSettle('call_1', { usage: { input: 1_000, output: 100 }, images: 2 })
  const former = { tokens: 1_100, images: 2, videoSeconds: 4, characters: 12, audioSeconds: 0.5 }
  await open().write([{ ...operation, ...former } as unknown as PendingOperation])
  const charged: unknown[] = []
  const calls: EndStore = {
    settle: (settled) => {
      charged.push(settled.used)
      return Promise.resolve({ kind: 'settled', first: true, late: false, deducted: settled.amount })
    },
    abandon: () => Promise.resolve({ kind: 'done' }),
    log: () => Promise.resolve({ kind: 'done' }),
  }
  expect(await open({ calls }).settle()).toBe(1)
  expect(charged).toEqual([{ ...used, videoSeconds: 4, characters: 12, audioSeconds: 0.5 }])
})

test("a vendor's words that look like an amount stay words", async () => {
  const body = { amount: { $n: '5' } }
  const patch = { error: { status: 400, code: 'x', message: 'y', body } }
  await open().write([{ ...exampleAbandon('call_1'), task: { id: 'video_1', patch } }])
  const bodies: unknown[] = []
  const done = { kind: 'done' } as const
  const calls: EndStore = {
    settle: ({ amount }) => Promise.resolve({ kind: 'settled', first: true, late: false, deducted: amount }),
    abandon: ({ task }) => Promise.resolve(void bodies.push(task?.patch.error?.body)).then(() => done),
    log: () => Promise.resolve(done),
  }
  await open({ calls }).settle()
  expect(bodies).toEqual([body])
})

describe('a disk that is full', () => {
  const full = () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
  const reserve = () => join(dataDirectory, 'unsettled.reserve')

  test('takes what a process could not settle into the space that was kept for it', async () => {
    await open().reserve()
    const { size, blocks, mode } = await stat(reserve())
    expect(size).toBe(1024 * 1024)
    expect(blocks * 512).toBeGreaterThanOrEqual(size)
    expect(mode & 0o777).toBe(0o600)
    await open({ write: full }).write(OPERATIONS)
    expect(await readdir(dataDirectory)).toEqual(['unsettled'])
    await open().settle()
    expect(taken).toEqual(ALL)
    expect(logged).toEqual(['warn: calls that a process could not settle before it stopped were settled'])
  })

  test('keeps charges before all else, as many as fit, and says the others in its log', async () => {
    await open().reserve()
    const given = Array.from({ length: 3_000 }, (_, index) => exampleAbandon(`given_${index}`))
    await open({ write: full }).write([
      ...given,
      exampleSettle('call_1', { usage: { input: 1_000, output: 100 } }),
    ])
    await open().settle()
    expect(taken[0]).toBe('settle call_1')
    expect(taken.length).toBeGreaterThan(400)
    expect(logged.filter((line) => line.startsWith('error'))).toEqual(
      Array.from(
        { length: Math.min(1_000, given.length + 1 - taken.length) },
        () => 'error: only this log line holds the unsettled end of a call',
      ),
    )
  })

  test('the same ends written again need no second file', async () => {
    await open().reserve()
    const files = open({ write: full })
    await files.write(OPERATIONS)
    await files.write([...OPERATIONS])
    expect(logged).toEqual([])
    expect(await readdir(folder())).toEqual(['stopped-1.jsonl'])
  })

  test('has the space once: a second process says in its log what it could not write', async () => {
    await open().reserve()
    await open().reserve()
    await open({ write: full }).write(OPERATIONS)
    await open({ write: full, instance: instanceId('other') }).write(OPERATIONS)
    expect(logged).toEqual([
      'error: ends of calls could not be kept in a file',
      ...OPERATIONS.map(() => 'error: only this log line holds the unsettled end of a call'),
    ])
    expect(await readdir(folder())).toEqual(['stopped-1.jsonl'])
  })

  test('does not follow a link in place of the reserve file', async () => {
    const other = join(dataDirectory, 'other')
    await writeFile(other, 'of somebody else')
    await symlink(other, reserve())
    await open().reserve()
    await open({ write: full }).write(OPERATIONS)
    expect(await readFile(other, 'utf8')).toBe('of somebody else')
    expect(logged[0]).toBe('error: ends of calls could not be kept in a file')
  })

  test('any other fault of the data directory does not prevent a start', async () => {
    await open({ dataDirectory: join(dataDirectory, 'missing') }).reserve()
    expect(logged).toEqual(['warn: no disk space can be reserved for unsettled calls'])
  })
})
