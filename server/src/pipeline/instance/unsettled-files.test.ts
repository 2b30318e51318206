import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exampleAbandon, exampleSettle } from '../../core/calls/examples.ts'
import { instanceId } from '../../core/ids.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import type { Log } from '../../telemetry/log.ts'
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
  const { createHash } = await import('node:crypto')
  const head = JSON.stringify({ format: 'sluice-unsettled', version: 2 })
  const sum = createHash('sha256').update(head).digest('hex').slice(0, 16)
  await writeFile(file, [`${sum} ${head}`, ...lines].join('\n'))
  expect(await open().settle()).toBe(0)
  expect([await names(), taken]).toEqual([['stopped-1.jsonl'], []])
})

test('what a process wrote that was killed meanwhile is settled as far as it goes, once nobody writes it any more', async () => {
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

test('where no file can be written, each operation is told to the log', async () => {
  await writeFile(folder(), 'in the way')
  await open().write(OPERATIONS)
  expect(logged).toEqual([
    'error: ends of calls could not be kept in a file',
    ...OPERATIONS.map(() => 'error: the unsettled end of a call is in this log line alone'),
  ])
})
