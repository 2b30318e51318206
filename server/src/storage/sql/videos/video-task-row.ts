/** Video tasks between their table and `VideoTask`: a column for each field, so that a patch writes what it names. */
import { accountId, callId, chainId, keyId, modelId, vendorCode } from '../../../core/ids.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { VideoTask, VideoTaskError, VideoTaskPatch } from '../../../core/video/task.ts'
import { parseStored } from '../stored-json.ts'
import { type Cell, numberOf, type StoredRow, textOf } from '../table.ts'

interface Field<Value> {
  readonly column: string
  readonly encode: (value: Value) => Cell
  readonly decode: (row: StoredRow, column: string) => Value
}

type Fields = { readonly [Name in keyof VideoTask]: Field<VideoTask[Name]> }

const FIELDS: Fields = {
  id: plain('id', (id) => id),
  kind: oneOf('kind', ['video', 'response']),
  keyId: plain('key_id', keyId),
  accountId: plain('account_id', accountId),
  callId: plain('call_id', callId),
  status: oneOf('status', ['queued', 'in_progress', 'completed', 'failed']),
  phase: oneOf('phase', ['intent', 'sent', 'running', 'unknown', 'fetching', 'ended']),
  modelId: plain('model_id', modelId),
  chainId: optional(integer('chain_id', chainId)),
  vendorCode: optional(plain('vendor_code', vendorCode)),
  byok: { column: 'byok', encode: Number, decode: (row, column) => numberOf(row, column) === 1 },
  state: json<JsonObject>('state'),
  next: optional(json<JsonObject>('next')),
  dueAt: integer('due_at', Number),
  polls: integer('polls', Number),
  failuresInRow: integer('failures_in_row', Number),
  progress: decimal('progress'),
  createdAt: integer('created_at', Number),
  completedAt: optional(integer('completed_at', Number)),
  expiresAt: integer('expires_at', Number),
  seconds: json<string>('seconds'),
  secondsBilled: decimal('seconds_billed'),
  secondsProduced: optional(decimal('seconds_produced')),
  size: json<string>('size'),
  prompt: json<string>('prompt'),
  url: optional(json<string>('url')),
  blob: optional(plain('blob', (key) => key)),
  blobBytes: optional(integer('blob_bytes', Number)),
  blobSha256: optional(plain('blob_sha256', (hash) => hash)),
  error: optional(json<VideoTaskError>('error')),
  lastAnswer: optional(json<string>('last_answer')),
  detail: json<JsonObject>('detail'),
}

/** A column and the value written to it. */
export type ColumnCell = readonly [column: string, cell: Cell]

/** The columns that a task or a patch names; a field that is present as `undefined` clears its column. */
export function videoCells(patch: Partial<VideoTask>): readonly ColumnCell[] {
  return videoFields(patch).map((name) => cellOf(name, patch))
}

function videoFields(patch: Partial<VideoTask>): readonly (keyof VideoTask)[] {
  return FIELD_NAMES.filter((name) => name in patch)
}

function cellOf<Name extends keyof VideoTask>(name: Name, patch: Partial<VideoTask>): ColumnCell {
  const { column, encode }: Field<VideoTask[Name]> = FIELDS[name]
  // The name was found in the patch, so its value has the field's type.
  return [column, encode(patch[name] as VideoTask[Name])]
}

const FIELD_NAMES = Object.keys(FIELDS) as readonly (keyof VideoTask)[]

/** Written at every end of a task: it has ended, and is not polled any more. */
export function videoEndCells(patch: VideoTaskPatch): readonly ColumnCell[] {
  return [...videoCells({ ...patch, phase: 'ended', next: undefined }), ['lease_instance', null]]
}

export function decodeVideoTask(row: StoredRow): VideoTask {
  const read = <Name extends keyof VideoTask>(name: Name): VideoTask[Name] => {
    const { column, decode }: Field<VideoTask[Name]> = FIELDS[name]
    return decode(row, column)
  }
  return {
    id: read('id'),
    kind: read('kind'),
    keyId: read('keyId'),
    accountId: read('accountId'),
    callId: read('callId'),
    status: read('status'),
    phase: read('phase'),
    modelId: read('modelId'),
    chainId: read('chainId'),
    vendorCode: read('vendorCode'),
    byok: read('byok'),
    state: read('state'),
    next: read('next'),
    dueAt: read('dueAt'),
    polls: read('polls'),
    failuresInRow: read('failuresInRow'),
    progress: read('progress'),
    createdAt: read('createdAt'),
    completedAt: read('completedAt'),
    expiresAt: read('expiresAt'),
    seconds: read('seconds'),
    secondsBilled: read('secondsBilled'),
    secondsProduced: read('secondsProduced'),
    size: read('size'),
    prompt: read('prompt'),
    url: read('url'),
    blob: read('blob'),
    blobBytes: read('blobBytes'),
    blobSha256: read('blobSha256'),
    error: read('error'),
    lastAnswer: read('lastAnswer'),
    detail: read('detail'),
  }
}

/** Text that the gateway generated. */
function plain<Value extends string>(column: string, decode: (text: string) => Value): Field<Value> {
  return { column, encode: (value) => value, decode: (row) => decode(textOf(row, column)) }
}

function oneOf<Value extends string>(column: string, values: readonly Value[]): Field<Value> {
  return plain(column, (text) => {
    const value = values.find((known) => known === text)
    if (value === undefined) throw new Error(`column ${column} holds ${text}`)
    return value
  })
}

function integer<Value extends number>(column: string, decode: (value: number) => Value): Field<Value> {
  return { column, encode: Math.round, decode: (row) => decode(numberOf(row, column)) }
}

/** A number that may have a fraction, so it is not stored as an integer. */
function decimal(column: string): Field<number> {
  return { column, encode: String, decode: (row) => Number(textOf(row, column)) }
}

function json<Value>(column: string): Field<Value> {
  return {
    column,
    encode: (value) => JSON.stringify(value),
    decode: (row) => parseStored<Value>(textOf(row, column)),
  }
}

function optional<Value>({ column, encode, decode }: Field<Value>): Field<Value | undefined> {
  return {
    column,
    encode: (value) => (value === undefined ? null : encode(value)),
    decode: (row) => (row[column] === null ? undefined : decode(row, column)),
  }
}
