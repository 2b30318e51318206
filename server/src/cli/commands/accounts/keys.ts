import { printMistake } from '../../../config/gateway-file/file-node.ts'
import type { Read } from '../../../config/gateway-file/map-reader.ts'
import { readValue } from '../../../config/gateway-file/read-value.ts'
import { instant, integer, policy } from '../../../config/gateway-file/values.ts'
import { modelId } from '../../../core/ids.ts'
import type { JsonObject } from '../../../core/json.ts'
import { eachAccount } from '../../../management/accounts/accounts.ts'
import { HIDDEN } from '../../../management/gateway-file/difference.ts'
import { keyForm } from '../../../management/gateway-file/forms.ts'
import {
  createKey,
  deleteKey,
  type KeyCreation,
  type KeyRequest,
  type KeyView,
  listKeys,
  OVERLAP_SECONDS_MAX,
  readFormerUntil,
  type Rotation,
  rotateKey,
  setKeyStatus,
} from '../../../management/keys/keys.ts'
import type { Storage } from '../../../storage/storage.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { accountLabel, requireAccount, requireKey } from '../../find-rows.ts'
import { withStorage } from '../../with-storage.ts'
import type { OutputFlags } from './accounts.ts'
import type { Key } from '../../../storage/stores/keys.ts'

export interface KeyListFlags {
  readonly account?: string
  readonly json?: boolean
}

export async function keysList(io: Console, flags: KeyListFlags): Promise<void> {
  const listed = await withStorage(io, 'refuse', async (storage) => {
    const rows: ListedKey[] = []
    const accounts =
      flags.account === undefined ? eachAccount(storage) : [await requireAccount(io, storage, flags.account)]
    for await (const account of accounts) {
      const keys = await listKeys(storage, account.id)
      const ends = await readFormerUntil(storage, keys, io.now())
      for (const key of keys)
        rows.push({ owner: accountLabel(account), key, formerUntil: isoTime(ends.get(key.id)) })
    }
    return rows
  })
  if (flags.json === true) {
    const json = listed.map(({ owner, key, formerUntil }) => ({
      ...keyJson(owner, key),
      former_valid_until: formerUntil ?? null,
    }))
    io.out(jsonText(json))
    return
  }
  const head = ['ID', 'ACCOUNT', 'NAME', 'KEY', 'STATUS', 'GROUP', 'EXPIRES']
  // Shown only if there is one: rotations with an overlap are rare.
  const rotated = listed.some(({ formerUntil }) => formerUntil !== undefined)
  const rows = listed.map(({ owner, key, formerUntil }) => [
    key.id,
    owner,
    key.name,
    `${key.hint}…`,
    statusOf(key, io.now()),
    key.group,
    isoTime(key.expiresAt),
    ...(rotated ? [formerUntil] : []),
  ])
  io.out(tableText(rotated ? [...head, 'FORMER SECRET UNTIL'] : head, rows))
}

interface ListedKey {
  readonly owner: string
  readonly key: KeyView
  readonly formerUntil: string | undefined
}

const isoTime = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

function statusOf(key: KeyView, at: number): string {
  return key.expiresAt !== undefined && key.expiresAt <= at ? 'expired' : key.status
}

export interface KeyCreateFlags {
  readonly name: string
  readonly group?: string
  readonly model?: readonly string[]
  readonly ip?: readonly string[]
  readonly expires?: string
  readonly policy?: string
  readonly json?: boolean
}

/** The key alone goes to standard output, so that a script can read it. */
export async function keysCreate(io: Console, account: string, flags: KeyCreateFlags): Promise<void> {
  const expiresAt = flags.expires === undefined ? undefined : valueOf('--expires', flags.expires, instant)
  const limits = flags.policy === undefined ? undefined : valueOf('--policy', flags.policy, policy)
  const made = await withStorage(io, 'refuse', async (storage) => {
    const owner = await requireAccount(io, storage, account)
    const request = {
      accountId: owner.id,
      name: flags.name,
      secret: undefined,
      status: 'enabled',
      expiresAt,
      group: flags.group,
      models: (flags.model ?? []).map(modelId),
      ipAllow: flags.ip ?? [],
      policy: limits,
    } as const
    return { owner: accountLabel(owner), creation: await create(io, storage, request) }
  })
  const { owner, creation } = made
  if (creation.kind === 'refused') {
    throw new CommandFailure(
      'mistakes',
      creation.mistakes.map((one) => `${one.path} ${one.message.text}`).join('\n'),
    )
  }
  if (flags.json === true) {
    io.out(jsonText({ ...keyJson(owner, creation.key), key: creation.plaintext.unwrap() }))
    return
  }
  io.err(`key ${creation.key.name} of ${owner}, id ${creation.key.id}; this is the only time it is shown:\n`)
  io.out(`${creation.plaintext.unwrap()}\n`)
}

function create(io: Console, storage: Storage, request: KeyRequest): Promise<KeyCreation> {
  const actor = commandLineActor(io)
  const { at } = actor
  return storage.audit.act<KeyCreation>(async (stores) => {
    const creation = await createKey(stores, request, at)
    if (creation.kind === 'refused') return { value: creation, act: undefined }
    const changes = [{ field: `key ${request.name}`, from: null, to: keyForm(creation.key) }]
    const act = { at, actor, action: 'key.create', subject: request.accountId, changes }
    return { value: creation, act }
  })
}

export async function keysSwitch(
  io: Console,
  reference: string,
  status: 'enabled' | 'disabled' | 'deleted',
  flags: OutputFlags,
): Promise<void> {
  const key = await withStorage(io, 'refuse', async (storage) => {
    const found = await requireKey(storage, reference)
    if (!(await switchKey(io, storage, found, status)))
      throw new CommandFailure('missing', `the key ${found.id} no longer exists`)
    return found
  })
  if (flags.json === true) io.out(jsonText({ id: key.id, name: key.name, status }))
  else io.err(`key ${key.name} (${key.hint}…) is ${status}\n`)
}

/** False: it does not exist any more. */
function switchKey(io: Console, storage: Storage, key: Key, status: Key['status']): Promise<boolean> {
  const actor = commandLineActor(io)
  return storage.audit.act(async (stores) => {
    const changed =
      status === 'deleted' ? await deleteKey(stores, key.id) : await setKeyStatus(stores, key.id, status)
    const changes = [{ field: `key ${key.name}: status`, from: key.status, to: status }]
    const act = { at: actor.at, actor, action: SWITCH_ACTIONS[status], subject: key.accountId, changes }
    return { value: changed, act: changed && key.status !== status ? act : undefined }
  })
}

const SWITCH_ACTIONS: Readonly<Record<Key['status'], string>> = {
  enabled: 'key.enable',
  disabled: 'key.disable',
  deleted: 'key.delete',
}

export interface KeyRotateFlags {
  readonly overlap?: string
  readonly json?: boolean
}

/** As with a new key, the new secret alone goes to standard output. */
export async function keysRotate(io: Console, reference: string, flags: KeyRotateFlags): Promise<void> {
  const overlap = valueOf('--overlap', flags.overlap ?? '0', integer({ least: 0, most: OVERLAP_SECONDS_MAX }))
  const rotation = await withStorage(io, 'refuse', async (storage) => {
    const found = await requireKey(storage, reference)
    const rotated = await rotate(io, storage, found, overlap * 1_000)
    if (rotated === undefined) throw new CommandFailure('missing', `the key ${found.id} no longer exists`)
    return rotated
  })
  const { key, plaintext, formerUntil } = rotation
  const until = formerUntil === undefined ? undefined : new Date(formerUntil).toISOString()
  if (flags.json === true) {
    io.out(jsonText({ id: key.id, key: plaintext.unwrap(), former_valid_until: until ?? null }))
    return
  }
  const former =
    until === undefined ? 'the former secret has ended' : `the former secret works until ${until}`
  io.err(`key ${key.name}, id ${key.id}; ${former}; this is the only time the new one is shown:\n`)
  io.out(`${plaintext.unwrap()}\n`)
}

function rotate(io: Console, storage: Storage, key: Key, overlapMs: number): Promise<Rotation | undefined> {
  const actor = commandLineActor(io)
  const { at } = actor
  return storage.audit.act(async (stores) => {
    const rotation = await rotateKey(stores, key.id, { overlapMs, at })
    if (rotation === undefined) return { value: undefined, act: undefined }
    const { formerUntil } = rotation
    const until = formerUntil === undefined ? null : new Date(formerUntil).toISOString()
    const changes = [
      { field: `key ${key.name}: secret`, from: HIDDEN, to: HIDDEN },
      { field: `key ${key.name}: former secret works until`, from: null, to: until },
    ]
    return { value: rotation, act: { at, actor, action: 'key.rotate', subject: key.accountId, changes } }
  })
}

/** A value in the gateway file's form. */
function valueOf<Value>(option: string, text: string, read: Read<Value>): Value {
  const result = readValue(text, read)
  if (result.kind === 'value') return result.value
  throw new CommandFailure(
    'mistakes',
    result.mistakes.map((mistake) => printMistake(option, mistake)).join('\n'),
  )
}

function keyJson(owner: string, key: KeyView): JsonObject {
  return {
    id: key.id,
    account: owner,
    account_id: key.accountId,
    ...keyForm(key),
    hint: key.hint,
    member: key.memberId ?? null,
    created_at: new Date(key.createdAt).toISOString(),
  }
}
