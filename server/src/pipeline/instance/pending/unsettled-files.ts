/**
 * What a stopping process could not write to the store: one file per process in the data directory, read by the next
 * process that starts there. Each line carries a checksum; the operations are idempotent, so that a file may be read by
 * two processes at once, or again after a crash before it was removed.
 */
import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { InstanceId } from '../../../core/ids.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import type { Telemetry } from '../../../telemetry/telemetry.ts'
import { isDiskFull, keepReserve, renameDurably, writeDurably, writeInReserve } from './durable-file.ts'
import { decodePending, encodePending } from './pending-codec.ts'
import { type EndStore, writeOnce } from './pending-operations.ts'
import type { PendingOperation } from './pending-operation.ts'
import { isMissing } from '../../../core/errors/error-code.ts'

export interface UnsettledFiles {
  /** Writes this process's file, replacing an earlier one; if there is nothing to write, the file is removed. */
  write(operations: readonly PendingOperation[]): Promise<void>
  /**
   * Writes the operations of all files to the store, and removes the files it accepted. Returns how many operations it
   * accepted.
   */
  settle(): Promise<number>
  /** Reserves a little disk space for a file that must be written when the disk is full. */
  reserve(): Promise<void>
}

export interface UnsettledFilesOptions {
  readonly dataDirectory: string
  readonly instance: InstanceId
  readonly calls: EndStore
  readonly telemetry: Pick<Telemetry, 'log'>
  /** Epoch ms, comparable with the file system's times. */
  readonly now: () => number
  /** How a file is written to disk. */
  readonly write?: typeof writeDurably
}

const FOLDER = 'unsettled'
/** Beside the folder: shared by all processes of the data directory. */
const RESERVE = 'unsettled.reserve'
/** Enough for some hundred calls: with a full disk no new ones begin. */
const RESERVE_BYTES = 1024 * 1024
const HEAD_BYTES_MAX = 1_024
const WHOLE = '.jsonl'
/** Suffix of a file being written; a process that is killed meanwhile leaves it. */
const PARTIAL = '.partial'
/** Suffix for lines that cannot be read or that the store refuses, to be inspected by a person. */
const ASIDE = '.damaged'
/** Writing takes less than a second; a file that has not changed for so long is abandoned. */
const ABANDONED_AFTER_MS = 60_000
const FORMAT = 'sluice-unsettled'
const VERSION = 1
/** Operations per transaction of the store. */
const AT_ONCE = 200
/** Characters logged of operations that could be kept nowhere else. */
const LOGGED_MAX = 1_000

export function openUnsettledFiles(options: UnsettledFilesOptions): UnsettledFiles {
  const folder = join(options.dataDirectory, FOLDER)
  const reserve = join(options.dataDirectory, RESERVE)
  const { log } = options.telemetry
  let written = 0
  let kept: readonly PendingOperation[] = []
  // A file never changes, so a process that has read one can remove it without losing anything else.
  const own = (number: number): string => join(folder, `${options.instance}-${number}${WHOLE}`)
  return {
    reserve: () =>
      keepReserve(reserve, RESERVE_BYTES).catch((error: unknown) =>
        log.warn({ error, file: reserve }, 'no disk space can be reserved for unsettled calls'),
      ),
    async write(operations) {
      if (isSame(operations, kept)) return
      try {
        const former = written
        if (operations.length > 0) {
          written += 1
          logUnkept(log, await place(own(written), operations, { reserve, ...options }))
        }
        kept = operations
        if (former > 0) await rm(own(former), { force: true })
      } catch (error) {
        log.error({ error, operations: operations.length }, 'ends of calls could not be kept in a file')
        logUnkept(log, operations)
      }
    },
    async settle() {
      let taken = 0
      const waiting = await waitingFiles(folder, options.now).catch((error: unknown) => {
        log.error({ error, folder }, 'files of unsettled calls cannot be looked for')
        return []
      })
      for (const name of waiting) {
        const file = join(folder, name)
        const ended = await settleFile(options, file).catch((error: unknown) => {
          log.error({ error, file }, 'a file of unsettled calls cannot be read')
          return { taken: 0, away: false }
        })
        taken += ended.taken
        if (ended.away) break
      }
      return taken
    },
  }
}

/** Files that are still to be settled, and files with lines that a person should inspect. */
export async function readUnsettled(
  dataDirectory: string,
): Promise<{ readonly waiting: readonly string[]; readonly aside: readonly string[] }> {
  const folder = join(dataDirectory, FOLDER)
  const names = await listFolder(folder)
  const ending = (end: string) => names.filter((name) => name.endsWith(end)).map((name) => join(folder, name))
  return { waiting: [...ending(WHOLE), ...ending(PARTIAL)], aside: ending(ASIDE) }
}

async function waitingFiles(folder: string, now: () => number): Promise<readonly string[]> {
  const waiting: string[] = []
  for (const name of await listFolder(folder)) {
    if (name.endsWith(WHOLE)) waiting.push(name)
    if (!name.endsWith(PARTIAL)) continue
    const found = await unlessMissing(() => lstat(join(folder, name)))
    if (found !== undefined && found.mtimeMs < now() - ABANDONED_AFTER_MS) waiting.push(name)
  }
  return waiting
}

async function listFolder(folder: string): Promise<readonly string[]> {
  return ((await unlessMissing(() => readdir(folder))) ?? []).toSorted()
}

async function settleFile(
  { calls, telemetry: { log }, instance }: UnsettledFilesOptions,
  file: string,
): Promise<{ readonly taken: number; readonly away: boolean }> {
  const text = await unlessMissing(() => readBytes(file))
  if (text === undefined) return { taken: 0, away: false }
  const read = decodeFile(text)
  if (read.kind === 'newer') {
    log.error(
      { file, version: read.version },
      'a newer build wrote this file of unsettled calls: start that one',
    )
    return { taken: 0, away: false }
  }
  const given = await give(calls, read.operations, log)
  if (given.away) return { taken: given.taken, away: true }
  const aside = [
    ...read.damaged,
    ...given.refused.map((operation) => asBytes(lineOf(encodePending(operation)))),
  ]
  if (read.lost !== undefined) {
    log.error({ file, lines: read.lost.lines }, 'a file of unsettled calls has lost lines')
    aside.unshift(read.lost.head)
  }
  if (aside.length > 0) {
    const kept = `${file}${ASIDE}`
    log.error(
      { file: kept, lines: aside.length },
      'lines of unsettled calls that cannot be settled were kept aside',
    )
    await placeAside(kept, aside, instance)
  }
  await rm(file, { force: true })
  log.warn(
    { file, settled: given.taken },
    'calls that a process could not settle before it stopped were settled',
  )
  return { taken: given.taken, away: false }
}

async function give(
  calls: EndStore,
  operations: readonly PendingOperation[],
  log: Telemetry['log'],
): Promise<{
  readonly taken: number
  readonly away: boolean
  readonly refused: readonly PendingOperation[]
}> {
  const refused: PendingOperation[] = []
  let taken = 0
  for (let start = 0; start < operations.length; start += AT_ONCE) {
    const group = operations.slice(start, start + AT_ONCE)
    const answers = await Promise.allSettled(group.map((operation) => writeOnce(calls, operation)))
    for (const [index, answer] of answers.entries()) {
      const operation = group[index]
      if (answer.status === 'fulfilled' || operation === undefined) {
        taken += 1
        continue
      }
      if (answer.reason instanceof StorageUnavailable) return { taken, away: true, refused }
      log.error({ error: answer.reason, callId: operation.callId }, 'the database refuses the end of a call')
      refused.push(operation)
    }
  }
  return { taken, away: false, refused }
}

function encodeFile(
  { instance, now }: UnsettledFilesOptions,
  operations: readonly PendingOperation[],
): string {
  const head = { format: FORMAT, version: VERSION, instance, at: now(), operations: operations.length }
  return [JSON.stringify(head), ...operations.map(encodePending)].map((text) => `${lineOf(text)}\n`).join('')
}

const lineOf = (text: string): string => `${checksum(text)} ${text}`

/** Checksum of an undamaged line: it detects damage, not attacks, because the folder is the operator's own. */
const checksum = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/**
 * The bytes of a file as a text with one character each, so that damaged ones are kept as they are. Only of a regular
 * file: a pipe would never end, and a link may point to another file.
 */
async function readBytes(file: string): Promise<string> {
  if (!(await lstat(file)).isFile()) throw new Error('not a regular file')
  return readFile(file, 'latin1')
}

const asBytes = (text: string): string => Buffer.from(text).toString('latin1')

type DecodedFile =
  | { readonly kind: 'newer'; readonly version: number }
  | {
      readonly kind: 'read'
      readonly operations: readonly PendingOperation[]
      /** Damaged lines, as bytes. */
      readonly damaged: readonly string[]
      /** Lines that the file's head announces but that are missing; undefined: none, or the head itself is damaged. */
      readonly lost: { readonly lines: number | 'all'; readonly head: string } | undefined
    }

interface Head {
  readonly kind: 'head'
  readonly version: number
  /** Number of lines that follow. */
  readonly operations: number
}

/** A file that was cut short, or whose head is damaged, still yields its complete lines. */
function decodeFile(bytes: string): DecodedFile {
  const lines = bytes.split('\n').filter((line) => line !== '')
  const operations: PendingOperation[] = []
  const damaged: string[] = []
  let announced = 0
  for (const [index, line] of lines.entries()) {
    const decoded = decodeLine(Buffer.from(line, 'latin1').toString(), index)
    if (decoded === 'damaged') damaged.push(line)
    else if (decoded.kind !== 'head') operations.push(decoded)
    else if (decoded.version > VERSION) return { kind: 'newer', version: decoded.version }
    else announced = decoded.operations
  }
  const missing = announced - operations.length - damaged.length
  const [head] = lines
  if (head === undefined) return { kind: 'read', operations, damaged, lost: { lines: 'all', head: '' } }
  const lost = missing > 0 ? { lines: missing, head } : undefined
  return { kind: 'read', operations, damaged, lost }
}

/** A line with a valid checksum but an unknown operation was written by other software. */
function decodeLine(line: string, index: number): PendingOperation | Head | 'damaged' {
  const text = line.slice(17)
  if (line[16] !== ' ' || checksum(text) !== line.slice(0, 16)) return 'damaged'
  try {
    return (index === 0 ? headOf(text) : undefined) ?? decodePending(text)
  } catch (error) {
    if (error instanceof Error) return 'damaged'
    throw error
  }
}

/** undefined: there is no head. */
function headOf(text: string): Head | undefined {
  const head: unknown = JSON.parse(text)
  const isHead = typeof head === 'object' && head !== null && 'format' in head && head.format === FORMAT
  if (!isHead || !('version' in head) || typeof head.version !== 'number') return undefined
  const operations = 'operations' in head && typeof head.operations === 'number' ? head.operations : 0
  return { kind: 'head', version: head.version, operations }
}

/** Returns what did not fit on a full disk. */
async function place(
  file: string,
  operations: readonly PendingOperation[],
  options: { readonly reserve: string } & UnsettledFilesOptions,
): Promise<readonly PendingOperation[]> {
  const { reserve, write = writeDurably } = options
  const partial = `${file}${PARTIAL}`
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  let unkept: readonly PendingOperation[] = []
  try {
    await write(partial, encodeFile(options, operations))
  } catch (error) {
    if (!isDiskFull(error)) throw error
    const [fitting, others] = fittingIn(RESERVE_BYTES - HEAD_BYTES_MAX, operations)
    await writeInReserve(reserve, partial, encodeFile(options, fitting))
    unkept = others
  }
  await renameDurably(partial, file)
  return unkept
}

/** Charges come first: abandoned calls are given back by the next start in any case. */
function fittingIn(
  bytes: number,
  operations: readonly PendingOperation[],
): readonly [fitting: readonly PendingOperation[], others: readonly PendingOperation[]] {
  const rankOf = ({ kind }: PendingOperation): number => (kind === 'settle' ? 0 : 1)
  const ordered = operations.toSorted((one, other) => rankOf(one) - rankOf(other))
  let left = bytes
  const count = ordered.findIndex((operation) => {
    left -= Buffer.byteLength(lineOf(encodePending(operation))) + 1
    return left < 0
  })
  return count < 0 ? [ordered, []] : [ordered.slice(0, count), ordered.slice(count)]
}

function logUnkept(log: Telemetry['log'], operations: readonly PendingOperation[]): void {
  for (const operation of operations.slice(0, LOGGED_MAX))
    log.error({ operation: encodePending(operation) }, 'only this log line holds the unsettled end of a call')
}

function isSame(some: readonly PendingOperation[], others: readonly PendingOperation[]): boolean {
  return some.length === others.length && some.every((operation, index) => operation === others[index])
}

/**
 * Adds to lines set aside before. Two processes that read one file write the same lines, each first to a file of its
 * own.
 */
async function placeAside(file: string, lines: readonly string[], instance: InstanceId): Promise<void> {
  const before = (await unlessMissing(() => readBytes(file)))?.split('\n') ?? []
  const all = [...new Set([...before.filter((line) => line !== ''), ...lines])]
  const own = `${file}.${instance}.writing`
  await writeDurably(own, Buffer.from(`${all.join('\n')}\n`, 'latin1'))
  await renameDurably(own, file)
}

async function unlessMissing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
